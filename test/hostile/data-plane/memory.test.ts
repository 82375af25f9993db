// A data plane that answers as much as it can, and more, where only the client or the whole operator is looked at: also
// with no more memory than a container gives.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from '@jest/globals'
import { ManagementClient } from '../../../operator/fleet/management-client.ts'
import { API_VERSION } from '../../../operator/resource/resource.ts'
import { startOperator } from '../../component/kubernetes/operator-process.ts'
import { aPlane, closeAll, closeLater } from '../../operator/fleet/rig.ts'
import { eventually } from '../../support/eventually.ts'
import { aSpecification } from '../../support/resources.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { hostileWith, LEFT_ALONE } from './cluster.ts'
import {
  type Respond,
  endless,
  type HostileDataPlane,
  json,
  sendText,
  stateOf,
} from './hostile-data-plane.ts'

afterEach(closeAll)

/** A document of so many bytes, of which nearly all are empty maps. */
const sized =
  (bytes: number): Respond =>
  (response) => {
    const start = '{"meta":['
    const maps = '{},'.repeat(Math.floor((bytes - start.length - 4) / 3))
    sendText(`${start}${maps}{}]}`.padEnd(bytes))(response)
  }

describe('a document requested', () => {
  const isTaken = (words: RegExp): boolean => words !== LEFT_ALONE
  const clientOf = ({ url }: HostileDataPlane) => {
    const client = new ManagementClient(
      { name: 'hostile', url, labels: {} },
      { credentials: () => Promise.resolve({ tls: {} }), timeoutMs: 20_000 },
    )
    closeLater(() => client.close())
    return client
  }

  it.each<[string, Respond, RegExp]>([
    ['as large as one may be', sized(4 * 1024 * 1024), /^$/],
    ['larger than one may be', sized(4 * 1024 * 1024 + 2000), LEFT_ALONE],
    ['without end', endless(' '), LEFT_ALONE],
    ['nested beyond any', sendText('['.repeat(1000)), LEFT_ALONE],
  ])('%s', async (_name, source, words) => {
    const hostile = await hostileWith({ source })
    const client = clientOf(hostile)
    const response = await client.source('a')
    expect(response.result === 'failed' ? response.message : '').toMatch(words)
    // It is left alone in all else too.
    const state = await client.state(undefined, { bytes: 10_000, values: 1_000 })
    expect(state.result).toBe(isTaken(words) ? 'ok' : 'failed')
    expect(hostile.asked).toEqual(isTaken(words) ? ['source', 'state'] : ['source'])
  })

  it('all realms, without end', async () => {
    const hostile = await hostileWith({ realms: endless('{},', { start: '[' }) })
    expect(await clientOf(hostile).realms()).toEqual({
      result: 'failed',
      message: expect.stringMatching(LEFT_ALONE),
    })
  })
})

describe('an operator with the memory of a container of 512 MiB', () => {
  const REALM = { apiVersion: API_VERSION, kind: 'Realm', metadata: { name: 'shop' } }
  const documentText = (id: string): string =>
    JSON.stringify({
      apiVersion: API_VERSION,
      kind: 'ApiSpecification',
      metadata: { name: id },
      spec: { document: aSpecification(id) },
    })

  /** Another 60,000 each time, all of them ours. */
  const claims: Respond = (response, asked) => {
    const boot = String(performance.now())
    const entry = { digest: 'd', managedBy: 'svc-operator', warnings: [] }
    const specs = Array.from({ length: 60_000 }, (_, i) => [`${boot}-${i}`, entry] as const)
    json(stateOf({ specs: Object.fromEntries(specs) }))(response, asked)
  }

  it('outlives gateways that answer as much as they can', async () => {
    const hostile = await Promise.all(
      [
        endless('{},', { start: '{"specs":{"a":[', bytes: 60_000_000 }),
        endless('{},', { start: '{"specs":{"a":[', bytes: 8_000_000 }),
        endless('[[[[[[', { start: '{"specs":' }),
        endless('"a":{},', { start: '{"specs":{' }),
        endless('x', { start: '{"bootId":"' }),
        claims,
      ].map((state) => hostileWith({ state })),
    )
    const honest = await aPlane()
    await using dir = await makeTempDir()
    const write = (name: string, text: string): Promise<void> =>
      writeFile(join(dir.path, `${name}.json`), text)
    await write('realm', JSON.stringify({ ...REALM, spec: { uri: 'com.shop' } }))
    await write('one', documentText('one'))
    const urls = [...hostile, honest].map(({ url }) => url).join(',')
    const flags = ['--manifests', dir.path, '--data-planes', urls, '--status', '127.0.0.1:0']
    const nodeFlags = ['--max-old-space-size=256']
    await using operator = await startOperator(flags, { nodeFlags, keptLines: 100 })
    const isServed = (id: string): Promise<void> =>
      eventually(
        () => {
          expect(honest.specs.has(id)).toBe(true)
        },
        { withinMs: 60_000 },
      )
    await isServed('one')
    await eventually(
      () => {
        expect(hostile.slice(0, -1).map(({ asked }) => asked)).toEqual(
          Array.from({ length: hostile.length - 1 }, () => ['state']),
        )
        expect(hostile.at(-1)?.asked.length).toBeGreaterThan(1)
      },
      { withinMs: 60_000 },
    )
    await write('two', documentText('two'))
    await isServed('two')
    expect(JSON.stringify(await operator.page('/status'))).toMatch(LEFT_ALONE)
    await operator.stop()
  }, 180_000)
})
