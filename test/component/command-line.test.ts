// What cannot work ends at once, with one line that says why, and exit code 2.

import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { runGateway, startGateway } from '../support/gateway-process.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const FREE = ['--public', '127.0.0.1:0', '--management', '127.0.0.1:0']

/** Exit code 2, nothing on stdout, one line on stderr that names the cause. */
const refusal = (names: string): object => ({
  code: 2,
  signal: null,
  stdout: '',
  stderr: [expect.stringContaining(names)],
})

const refused = async (
  flags: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<object> => {
  const run = await runGateway(flags, env)
  return { ...run, stderr: run.stderr.trimEnd().split('\n') }
}

describe('a setting that is wrong', () => {
  it.each<[string, readonly string[], Readonly<Record<string, string>>, string]>([
    ['an unknown flag', [...FREE, '--no-such-flag', '1'], {}, '--no-such-flag'],
    ['a reserved word', [...FREE, '--constructor', '1'], {}, '--constructor'],
    ['an address that is none', ['--public', 'nonsense:port'], {}, '--public'],
    ['a number that is none', [...FREE, '--drain-seconds', 'soon'], {}, '--drain-seconds'],
    ['open management without credentials', ['--management', '0.0.0.0:0'], {}, '--management'],
    ['the environment', FREE, { SVC_GATEWAY_DRAIN_SECONDS: 'soon' }, 'SVC_GATEWAY_DRAIN_SECONDS'],
    ['a file that is not there', [...FREE, '--config', '/nowhere/g.yaml'], {}, '/nowhere/g.yaml'],
  ])('%s', async (_, flags, env, names) => {
    expect(await refused(flags, env)).toEqual(refusal(names))
  })

  it('an unknown key of the configuration file', async () => {
    await using dir = await makeTempDir()
    const path = join(dir.path, 'gateway.yaml')
    await writeFile(path, 'no-such-key: 1\n')
    expect(await refused([...FREE, '--config', path])).toEqual(refusal('no-such-key'))
  })
})

describe('a file of CAs that is of no use', () => {
  it.each([
    ['no certificate', 'nonsense\n'],
    ['a broken one', '-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n'],
  ])('%s', async (_, text) => {
    await using dir = await makeTempDir()
    const path = join(dir.path, 'ca.pem')
    await writeFile(path, text)
    expect(await refused([...FREE, '--upstream-ca', path])).toEqual(refusal(path))
  })
})

describe('a taken address', () => {
  it.each([
    ['of one process, public', '--public', '--management', '1'],
    ['of one process, management', '--management', '--public', '1'],
    ['of several processes', '--public', '--management', '2'],
  ])('%s', async (_, flag, other, processes) => {
    const holder = createServer()
    await once(holder.listen(0, '127.0.0.1'), 'listening')
    const taken = `127.0.0.1:${(holder.address() as AddressInfo).port}`
    try {
      const flags = [flag, taken, other, '127.0.0.1:0', '--processes', processes]
      expect(await refused(flags)).toEqual(refusal(taken))
    } finally {
      holder.close()
    }
  })
})

it('--help names every setting, --version the version', async () => {
  const [help, version] = await Promise.all([runGateway(['--help']), runGateway(['--version'])])
  expect(help.code).toBe(0)
  expect(help.stdout).toContain('--state-dir')
  expect(version.code).toBe(0)
  expect(version.stdout).toMatch(/\d+\.\d+\.\d+/)
})

it('flags beat the environment, the environment beats the file', async () => {
  await using dir = await makeTempDir()
  const path = join(dir.path, 'gateway.yaml')
  await writeFile(path, 'public: 127.0.0.1:1\nmanagement: 127.0.0.1:1\n')
  await using gateway = await startGateway({
    flags: ['--config', path],
    env: { SVC_GATEWAY_PUBLIC: '127.0.0.1:2' },
  })
  expect(Number(new URL(gateway.public).port)).toBeGreaterThan(2)
})
