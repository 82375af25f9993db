// Tests `svc openapi`: which version of which document it describes, and what it says where that is not clear.

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { parse } from 'yaml'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'
import { svc } from './run-svc.ts'

const version = (base_path: string): object => ({
  base_path,
  paths: { '/x': { get: { action: { type: 'static', body: '{{variables.key}}' } } } },
})
const manifest = (name: string, versions: object, kind = 'ApiSpecification'): string =>
  JSON.stringify({
    apiVersion: 'gateway.svc.dev/v1alpha1',
    kind,
    metadata: { name },
    spec: {
      variablesFrom: [{ name: 'key', secretRef: { name: 'keys', key: 'key' } }],
      document: { id: name, host: '_', realm_uri: 'com.a', versions },
    },
  })
const SECRET = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'keys' },
  stringData: { key: 'hush-hush' },
})

let directory: TempDir

beforeAll(async () => {
  directory = await makeTempDir()
  const one = join(directory.path, 'one')
  const two = join(directory.path, 'two')
  await mkdir(one)
  await mkdir(two)
  for (const path of [one, two]) await writeFile(join(path, 'secret.yaml'), SECRET)
  await writeFile(join(one, 'a.yaml'), manifest('a', { v1: version('/v1') }))
  await writeFile(join(two, 'a.yaml'), manifest('a', { v1: version('/v1'), v2: version('/v2') }))
  await writeFile(join(two, 'b.yaml'), manifest('b', { v1: version('/b') }))
})

afterAll(async () => {
  await directory[Symbol.asyncDispose]()
})

const run = async (name: string, ...argv: readonly string[]): ReturnType<typeof svc> =>
  await svc(['openapi', join(directory.path, name), ...argv])

it.each<[string, readonly string[], string]>([
  ['one', [], '/v1/x'],
  ['two', ['--api', 'b'], '/b/x'],
  ['two', ['--api-version', 'v2'], '/v2/x'],
  ['two', ['--api', 'a', '--api-version', 'v1'], '/v1/x'],
])('of %s with %j it describes %s', async (name, argv, path) => {
  const { code, stdout, stderr } = await run(name, ...argv)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(JSON.parse(stdout)).toMatchObject({ openapi: '3.1.0', paths: { [path]: {} } })
  expect(stdout).not.toContain('hush')
})

it('writes the same as YAML', async () => {
  const [json, yaml] = [await run('one'), await run('one', '-o', 'yaml')]
  expect(yaml.stdout).not.toMatch(/^\{/)
  expect(parse(yaml.stdout)).toEqual(JSON.parse(json.stdout))
})

it.each<[string, readonly string[], string]>([
  [
    'two',
    [],
    'there are several: --api a --api-version v1, --api a --api-version v2, --api b --api-version v1',
  ],
  ['one', ['--api', 'b'], 'there is no such version among the documents'],
  ['none', [], 'none'],
])('of %s with %j it says: %s', async (name, argv, words) => {
  const { code, stdout, stderr } = await run(name, ...argv)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(words)
})

it('asks for a file', async () => {
  const { code, stderr } = await svc(['openapi'])
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: 'svc openapi: name a file or directory with documents, or - for stdin\n',
  })
})
