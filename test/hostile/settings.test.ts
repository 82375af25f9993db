// Settings that cannot be used, found only when the gateway starts: one line on stderr and exit 2, never a
// stack, never a secret.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { readOperatorSettings } from '../../operator/config.ts'
import { runGateway } from '../support/gateway-process.ts'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'

let dir: TempDir

beforeAll(async () => {
  dir = await makeTempDir()
  await writeFile(join(dir.path, 'file'), '')
})

afterAll(async () => {
  await dir[Symbol.asyncDispose]()
})

it.each([
  ['a state directory that is a file', '--state-dir', 'file'],
  ['a state directory below a file', '--state-dir', 'file/below'],
  ['a process id file in no directory', '--pid-file', 'nowhere/pid'],
  ['a process id file that is a directory', '--pid-file', '.'],
  ['CAs in no file', '--upstream-ca', 'nowhere'],
  ['CAs in an empty file', '--upstream-ca', 'file'],
])('%s', async (_, flag, path) => {
  const local = ['--public', '127.0.0.1:0', '--management', '127.0.0.1:0']
  const { code, stdout, stderr } = await runGateway([...local, flag, join(dir.path, path)])
  expect(stdout).toBe('')
  expect(stderr).toMatch(new RegExp(`^svc-gateway: ${flag} [^\n]*: [^\n]+\n$`))
  expect(code).toBe(2)
})

it('a password in the URL of a data plane is not shown', () => {
  const argv = ['--manifests', '.', '--data-planes', 'http://admin:hunter2@127.0.0.1:1']
  const parsed = readOperatorSettings(argv, {})
  expect(parsed).toMatchObject({ kind: 'error', message: expect.stringContaining('127.0.0.1:1') })
  expect(JSON.stringify(parsed)).not.toMatch(/admin|hunter2/)
})
