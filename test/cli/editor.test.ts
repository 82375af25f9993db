// Tests what an editor shows by the schema of `svc schema`: completion, descriptions and underlined mistakes.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'
import { LanguageServer } from './language-server.ts'
import { svc } from './run-svc.ts'

let directory: TempDir
let server: LanguageServer

beforeAll(async () => {
  directory = await makeTempDir()
  const file = join(directory.path, 'svc.schema.json')
  await writeFile(file, (await svc(['schema'])).stdout)
  server = await LanguageServer.start(file)
})

afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await directory[Symbol.asyncDispose]()
})

const OPEN = `apiVersion: gateway.svc.dev/v1alpha1
kind: ApiSpecification
metadata: {name: a}
spec:
  document:
    id: com.example.a
    host: _
    realm_uri: com.example
    versions:
      v1:
        base_path: /v1
        paths:
          /a:
            get:
              action:
`

describe('completion', () => {
  it.each<[string, string, readonly string[]]>([
    ['kinds', 'kind: |', ['ApiSpecification', 'Realm', 'Secret', 'ConfigMap']],
    ['keys of an empty file', '|', ['apiVersion', 'kind', 'host', 'ApiSpecification', 'Realm']],
    ['types of actions', `${OPEN}                type: |`, ['static', 'forward', 'wamp_call']],
    [
      'keys of an action',
      `${OPEN}                type: forward\n                |`,
      ['host', 'timeout', 'retries'],
    ],
    [
      'keywords of a JSON Schema',
      `${OPEN}                type: static\n              schema:\n                body:\n                  |`,
      ['properties', 'required', 'additionalProperties', '$ref'],
    ],
    [
      'keys of a realm',
      'apiVersion: gateway.svc.dev/v1alpha1\nkind: Realm\nmetadata: {name: a}\nspec:\n  |',
      ['uri', 'router', 'authmethods'],
    ],
  ])('offers %s', async (name, marked, wanted) => {
    const labels = await server.complete(`${name.replaceAll(' ', '-')}.yaml`, marked)
    expect(labels).toEqual(expect.arrayContaining([...wanted]))
  })
})

describe('underlined', () => {
  const good = `${OPEN}                {type: forward, host: http://a, timeout: 5000}\n`

  it.each<[string, readonly [string, string], string, string]>([
    [
      'an unknown key',
      ['base_path: /v1', 'basepath: /v1'],
      '10:8',
      'Property basepath is not allowed',
    ],
    [
      'a misspelt kind',
      ['kind: ApiSpecification', 'kind: ApiSpecifcation'],
      '1:6',
      'Value is not accepted. Valid values: "ApiSpecification", "Realm"',
    ],
    [
      'a time with a unit',
      ['timeout: 5000', 'timeout: 5s'],
      '15:57',
      "A whole number is expected here, or an expression such as '{{variables.name}}'",
    ],
    [
      'an unknown key of an action',
      ['timeout', 'time_out'],
      '15:48',
      'Property time_out is not allowed',
    ],
  ])('is %s', async (name, [from, to], place, message) => {
    const found = await server.diagnose(`${name.replaceAll(' ', '-')}.yaml`, good.replace(from, to))
    const lines = found.map(
      ({ message: words, range: { start } }) => `${start.line}:${start.character} ${words}`,
    )
    expect(lines).toContainEqual(expect.stringContaining(`${place} ${message}`))
  })

  it('is nothing of what is valid', async () => {
    expect(await server.diagnose('good.yaml', good)).toEqual([])
  })
})
