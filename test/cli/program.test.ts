// Tests `svc` as a program of its own in the checkout: where it looks for files, and how little it loads.

import { spawnSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { programEnvironment } from '../support/program-environment.ts'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'

const ROOT = join(import.meta.dirname, '../..')
const MAIN = join(ROOT, 'cli/main.ts')

let directory: TempDir

beforeAll(async () => {
  directory = await makeTempDir()
  await mkdir(join(directory.path, 'apis'))
  const realm = { apiVersion: 'gateway.svc.dev/v1alpha1', kind: 'Realm', metadata: { name: 'a' } }
  const text = JSON.stringify({ ...realm, spec: { uri: 'com.a' } })
  await writeFile(join(directory.path, 'apis/realm.yaml'), text)
})

afterAll(async () => {
  await directory[Symbol.asyncDispose]()
})

const FOUND = '1 file with 0 documents, 1 realm: 0 errors, 0 warnings\n'

const run = (
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd = ROOT,
): { readonly status: number | null; readonly stdout: string; readonly stderr: string } => {
  const { status, stdout, stderr } = spawnSync(process.execPath, argv, {
    cwd,
    env: programEnvironment(env),
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

describe('relative paths', () => {
  it('are those of the directory in which npm was called', () => {
    const { status, stderr } = spawnSync(
      'npm',
      ['--prefix', ROOT, 'run', '-s', 'svc', '--', 'validate', 'apis'],
      { cwd: directory.path, encoding: 'utf8' },
    )
    expect({ status, stderr }).toEqual({ status: 0, stderr: FOUND })
  })

  it.each<[string, Readonly<Record<string, string>>]>([
    ['without npm', {}],
    ['in a script of another package', { npm_lifecycle_event: 'svc', npm_package_json: '/other' }],
    ['in another script', { npm_package_json: join(ROOT, 'package.json') }],
  ])('are those of the working directory %s', (_, env) => {
    const found = run([MAIN, 'validate', 'apis'], { ...env, INIT_CWD: ROOT }, directory.path)
    expect(found).toEqual({ status: 0, stdout: '', stderr: FOUND })
  })
})

/** Says at the end which packages were loaded. */
const LISTENER = `data:text/javascript,${encodeURIComponent(`
import { registerHooks } from 'node:module'
const packages = new Set()
registerHooks({
  resolve: (specifier, context, next) => {
    const resolved = next(specifier, context)
    const name = /.*\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)\\//.exec(resolved.url)?.[1]
    if (name !== undefined) packages.add(name)
    return resolved
  },
})
process.on('exit', () => process.stderr.write('loaded: ' + [...packages].sort().join(' ') + '\\n'))
`)}`

describe('a command loads nothing that it does not need', () => {
  const packagesOf = (...argv: readonly string[]): readonly string[] => {
    const { stderr } = run(['--import', LISTENER, MAIN, ...argv])
    const [, names] = /^loaded: (.*)$/m.exec(stderr) ?? []
    if (names === undefined) throw new Error(stderr)
    return names.split(' ').filter((name) => name !== '')
  }

  const VALIDATING = ['ajv', 'fast-deep-equal', 'fast-uri', 'json-schema-traverse', 'yaml']
  const files = (): string => join(directory.path, 'apis')

  it.each<[string, () => readonly string[], readonly string[]]>([
    ['version', () => ['version'], []],
    ['--help', () => ['--help'], []],
    ['hash-password', () => ['hash-password'], []],
    ['key new', () => ['key', 'new'], []],
    ['validate', () => ['validate', files()], VALIDATING],
    ['routes of files', () => ['routes', files()], VALIDATING],
    ['apply --help', () => ['apply', '--help'], VALIDATING],
    ['status --help', () => ['status', '--help'], []],
    ['completion', () => ['completion', 'bash'], VALIDATING],
  ])('%s', (_, argv, allowed) => {
    expect(packagesOf(...argv()).filter((name) => !allowed.includes(name))).toEqual([])
  })
})
