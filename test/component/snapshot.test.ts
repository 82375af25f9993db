// A gateway that is killed at the worst moment, or finds its files damaged, serves the last good state
// after its restart.

import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { startGateway, type GatewayProcess } from '../support/gateway-process.ts'
import { request } from '../support/http-request.ts'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'
import { answers, api, load, post } from './gateway-client.ts'

const start = (directory: string): Promise<GatewayProcess> =>
  startGateway({ flags: ['--state-dir', directory] })

const bodyOf = async (gateway: GatewayProcess, path: string): Promise<unknown> => {
  const response = await request(`${gateway.public}${path}`)
  return response.status === 200 ? response.json() : response.status
}

/** Paths of the files below a directory. */
const filesIn = async (directory: string): Promise<string[]> => {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
}

const isIndex = (path: string): boolean => basename(path) === 'index'

/** The one file that a document is kept in. */
const fileOf = async (directory: string, id: string): Promise<string> => {
  for (const path of await filesIn(directory)) {
    if (!isIndex(path) && (await readFile(path, 'latin1')).includes(`"${id}"`)) return path
  }
  throw new Error(`no file of ${id}`)
}

const tear = async (path: string): Promise<void> => {
  const bytes = await readFile(path)
  await writeFile(path, bytes.subarray(0, bytes.length / 2))
}

/** Big enough that a kill has a chance to hit the middle of its file. */
const version = (n: number): object =>
  api('changing', { '/v': answers({ n, pad: 'x'.repeat(200_000), again: n }) })

/** Loads one version after the other until the gateway is gone; the last one that was answered. */
const loadWhileAlive = async (gateway: GatewayProcess, from: number): Promise<number> => {
  for (let n = from; ; n += 1) {
    const response = await post(gateway, '/api_specs', version(n)).catch(() => undefined)
    if (response?.status !== 204) return n - 1
  }
}

// One directory and a chain of processes: each test begins with what the one before has left behind.
let dir: TempDir
let gateway: GatewayProcess

beforeAll(async () => {
  dir = await makeTempDir()
  gateway = await start(dir.path)
})

afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await dir[Symbol.asyncDispose]()
})

it('what was acknowledged survives kill -9 in the middle of loading', async () => {
  await load(gateway, api('steady', { '/x': answers('steady') }), version(1))
  let newest = 1
  for (const afterMs of [30, 80, 150]) {
    // The first one of a process is slow: the kill shall meet a later one.
    await load(gateway, version(newest + 1))
    const loading = loadWhileAlive(gateway, newest + 2)
    await new Promise((resolve) => setTimeout(resolve, afterMs))
    await gateway.kill()
    const acknowledged = await loading
    gateway = await start(dir.path)
    const served = (await bodyOf(gateway, '/changing/v')) as { n: number; again: number }
    // The version that was on its way when the kill came may have made it, or not.
    expect([acknowledged, acknowledged + 1]).toContain(served.n)
    expect(served.again).toBe(served.n)
    expect(await bodyOf(gateway, '/steady/x')).toBe('steady')
    newest = served.n
  }
  expect((await filesIn(dir.path)).filter((path) => path.includes('.tmp-'))).toEqual([])
}, 60_000)

it('what was deleted stays deleted, and the files are for their owner alone', async () => {
  await load(
    gateway,
    api('gone', { '/x': answers('gone') }),
    api('kept', { '/x': answers('kept') }),
    api('torn', { '/x': answers('torn') }),
  )
  await request(`${gateway.management}/api_specs/gone`, { method: 'DELETE' })
  await gateway.kill()
  await tear(await fileOf(dir.path, 'torn'))
  gateway = await start(dir.path)
  expect(await bodyOf(gateway, '/gone/x')).toBe(404)
  expect(await bodyOf(gateway, '/kept/x')).toBe('kept')
  const paths = await filesIn(dir.path)
  const modes = await Promise.all(paths.map(async (path) => (await stat(path)).mode & 0o077))
  expect(modes.length).toBeGreaterThan(0)
  expect(modes.every((mode) => mode === 0)).toBe(true)
})

it('damaged files have been set aside, and the rest serves', async () => {
  expect(await bodyOf(gateway, '/torn/x')).toBe(404)
  expect((await filesIn(dir.path)).join(' ')).toMatch(/\.damaged-/)
  // It is no poison: the same document loads again.
  await load(gateway, api('torn', { '/x': answers('mended') }))
  expect(await bodyOf(gateway, '/torn/x')).toBe('mended')
})

it.each([
  ['garbage', 'not an index \u0000'],
  ['nothing', ''],
])('an index of %s costs no document', async (_, content) => {
  await gateway.stop()
  await writeFile((await filesIn(dir.path)).find(isIndex) ?? '', content)
  gateway = await start(dir.path)
  expect(await bodyOf(gateway, '/kept/x')).toBe('kept')
  expect(await bodyOf(gateway, '/torn/x')).toBe('mended')
})
