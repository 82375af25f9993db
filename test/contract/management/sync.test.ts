import { describe, expect, it } from '@jest/globals'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { responseBound } from '../../../operator/fleet/client/bounded-body.ts'
import { readBounded } from '../../support/read-bounded.ts'
import { digestOf, rootDigest } from '../../../language/wire/digest.ts'
import { reportedBytes, reportedItemBytes } from '../../../language/wire/report-bounds.ts'
import type { SyncReply } from '../../../language/wire/wire.ts'
import { makeDocument, REALM } from '../../dataplane/store/rig.ts'
import { type ManagementResponse, type Gateway, isErrorRecord, startGateway } from './gateway.ts'

const realm = { uri: REALM }
const spec = makeDocument('a')
const realmPut = { uri: REALM, digest: digestOf(realm), realm }
const specPut = { id: 'a', digest: digestOf(spec), since: 5, spec }
const EMPTY = rootDigest([])
const FULL = rootDigest([
  { kind: 'realm', key: REALM, digest: realmPut.digest },
  { kind: 'spec', key: 'a', digest: specPut.digest },
])

const call = { managedBy: 'op', epoch: 1, base: EMPTY }
const fill = { ...call, realms: { put: [realmPut] }, specs: { put: [specPut] } }

const managed = (allowUnmanaged = false): Promise<Gateway> =>
  startGateway({ store: { manager: 'op', allowUnmanaged } })

const sync = (gateway: Gateway, json: unknown): Promise<ManagementResponse> =>
  gateway.send('POST', '/api_specs/_sync', { json })

describe('POST /api_specs/_sync', () => {
  it('answers the root digest and a result per entry', async () => {
    await using gateway = await managed()
    const { status, json } = await sync(gateway, fill)
    expect([status, json]).toEqual([
      200,
      {
        rootDigest: FULL,
        items: [
          { id: REALM, kind: 'realm', result: 'loaded', errors: [], warnings: [] },
          { id: 'a', kind: 'spec', result: 'loaded', errors: [], warnings: [] },
        ],
      },
    ])
  })

  it('makes the gateway ready when it is complete, and not before', async () => {
    await using gateway = await managed()
    const ready = async (): Promise<number> => (await gateway.send('GET', '/ready')).status
    expect(await ready()).toBe(503)
    await sync(gateway, fill)
    expect(await ready()).toBe(503)
    const response = await sync(gateway, { ...call, base: FULL, complete: FULL })
    expect(response.json).toMatchObject({ rootDigest: FULL, items: [] })
    expect(await ready()).toBe(204)
    await sync(gateway, { ...call, base: FULL, specs: { delete: ['a'] } })
    expect(await ready()).toBe(204)
  })

  it('answers 409 with what is held when it is not complete', async () => {
    await using gateway = await managed()
    const response = await sync(gateway, { ...fill, complete: EMPTY })
    expect([response.status, isErrorRecord(response)]).toEqual([409, true])
    expect(response.record).toMatchObject({
      rootDigest: FULL,
      held: { [`realm\t${REALM}`]: realmPut.digest, 'spec\ta': specPut.digest },
      items: [{ result: 'loaded' }, { result: 'loaded' }],
    })
  })

  it.each([
    ['another manager', { managedBy: 'other' }, 403, { code: 'svc.error.not_owner' }],
    ['another base', { base: FULL }, 412, { code: 'svc.error.stale_base', rootDigest: EMPTY }],
    ['an epoch of the past', { epoch: 0 }, 409, { code: 'svc.error.stale_epoch', epoch: 1 }],
  ])('refuses %s', async (_name, more, status, record) => {
    await using gateway = await managed()
    await sync(gateway, call)
    const response = await sync(gateway, { ...fill, ...more })
    expect([response.status, isErrorRecord(response)]).toEqual([status, true])
    expect(response.record).toMatchObject(record)
    expect(gateway.served()).toEqual([])
  })

  it('is refused by a gateway without a manager', async () => {
    await using gateway = await startGateway()
    const response = await sync(gateway, fill)
    expect([response.status, response.record.code]).toEqual([403, 'svc.error.not_owner'])
  })

  it('says no more of an entry than its operator takes', async () => {
    await using gateway = await managed()
    const odd = Object.fromEntries(
      Array.from({ length: 500 }, (_, i) => [`[${i},{"`.repeat(50), i]),
    )
    const specOf = (id: string, more: object) => {
      const document = { ...makeDocument(id), ...odd, ...more }
      return { id, digest: digestOf(document), since: 5, spec: document }
    }
    const wrong = Object.fromEntries(Array.from({ length: 90 }, (_, i) => [`v[${i},`, 'none']))
    const puts = [specOf('a', {}), specOf('b', { versions: wrong })]
    const response = await sync(gateway, { ...fill, specs: { put: puts } })
    const [, loaded, rejected] = (response.json as SyncReply).items
    expect([loaded?.result, rejected?.result]).toEqual(['loaded', 'rejected'])
    expect(loaded?.warnings.length).toBeGreaterThan(0)
    expect(rejected?.errors.length).toBe(16)
    const state = await gateway.send('GET', '/api_specs?view=state')
    const BASE = 1024
    const itemBytes = [REALM, 'a', 'b'].reduce((sum, key) => sum + reportedItemBytes(key), 0)
    const entryBytes = reportedBytes('realm', REALM) + reportedBytes('spec', 'a')
    for (const [{ json }, bytes] of [
      [response, itemBytes] as const,
      [state, entryBytes] as const,
    ]) {
      const body = Readable.from([Buffer.from(JSON.stringify(json))])
      expect(await readBounded(body, { bound: responseBound(BASE, bytes) })).not.toBe('')
    }
  })

  it.each([
    [{}, '/managedBy'],
    [{ ...call, specs: { put: {} } }, '/specs/put'],
    [{ ...call, specs: { put: { a: {} } } }, '/specs/put'],
  ])('refuses the shape of %j', async (json, path) => {
    await using gateway = await managed()
    const { status, record } = await sync(gateway, json)
    expect([status, record.errors?.[0]?.path]).toEqual([400, path])
  })

  it('changes nothing when an entry is no JSON', async () => {
    await using gateway = await managed()
    const body = JSON.stringify(fill).replace('"since":5', '"since":five')
    const headers = { 'content-type': 'application/json' }
    const response = await gateway.send('POST', '/api_specs/_sync', { body, headers })
    expect([response.status, response.record.code]).toEqual([400, 'svc.error.invalid_data'])
    const state = await gateway.send('GET', '/api_specs?view=state')
    expect(state.json).toMatchObject({ specs: {}, realms: {} })
  })

  it('takes gzip', async () => {
    await using gateway = await managed()
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    const body = gzipSync(JSON.stringify(fill))
    const response = await gateway.send('POST', '/api_specs/_sync', { body, headers })
    expect([response.status, gateway.served()]).toEqual([200, ['a']])
  })

  it('never reads variables back', async () => {
    await using gateway = await managed()
    const variables = { secret: 'do-not-tell' }
    await sync(gateway, { ...fill, specs: { put: [{ ...specPut, variables }] } })
    const paths = [
      '/api_specs',
      '/api_specs/a',
      '/api_specs/a?view=source',
      '/api_specs?view=state',
    ]
    const texts = await Promise.all(
      paths.map(async (path) => (await gateway.send('GET', path)).text),
    )
    expect(texts.join('')).not.toContain('do-not-tell')
    expect(texts.join('')).toContain('acme.test')
  })
})

describe('hands on a managed gateway', () => {
  const attempts = [
    ['POST', '/api_specs', spec],
    ['POST', '/services/load_api_spec', [spec]],
    ['DELETE', '/api_specs/a', undefined],
    ['POST', '/realms', realm],
    ['DELETE', `/realms/${REALM}`, undefined],
  ] as const

  it.each(attempts)('%s %s is 403', async (method, path, json) => {
    await using gateway = await managed()
    await sync(gateway, fill)
    const response = await gateway.send(method, path, { json })
    expect([response.status, isErrorRecord(response), response.record.code]).toEqual([
      403,
      true,
      'svc.error.not_owner',
    ])
    expect(gateway.served()).toEqual(['a'])
  })

  it.each(attempts.filter(([, , json]) => !Array.isArray(json)))(
    '%s %s of what is managed is 403, also where hands are allowed',
    async (method, path, json) => {
      await using gateway = await managed(true)
      await sync(gateway, fill)
      expect((await gateway.send(method, path, { json })).status).toBe(403)
      const state = await gateway.send('GET', '/api_specs?view=state')
      expect(state.json).toMatchObject({ rootDigest: FULL })
    },
  )

  it('are reported for each item of a list', async () => {
    await using gateway = await managed(true)
    await sync(gateway, fill)
    const { json } = await gateway.send('POST', '/api_specs', { json: [spec, makeDocument('b')] })
    expect(json).toMatchObject({
      items: [
        { id: 'a', result: 'rejected' },
        { id: 'b', result: 'loaded' },
      ],
    })
  })
})
