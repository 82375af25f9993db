import { afterEach, describe, expect, it } from '@jest/globals'
import { ServiceDirectory } from '../../../dataplane/upstream/endpoints/service-directory.ts'
import { type ManagementResponse, type Gateway, startGateway, toldEndpoints } from './gateway.ts'

let gateway: Gateway
afterEach(async () => {
  await gateway[Symbol.asyncDispose]()
})

const start = async (manager: string | null = 'op'): Promise<ServiceDirectory> => {
  const directory = new ServiceDirectory()
  gateway = await startGateway({ store: { manager }, app: { endpoints: toldEndpoints(directory) } })
  return directory
}

const tell = (json: unknown): Promise<ManagementResponse> =>
  gateway.send('POST', '/service_endpoints', { json })

let sequence = 0
const call = (more: object = {}): object => ({
  managedBy: 'op',
  epoch: 3,
  sender: 'one',
  sequence: ++sequence,
  ...more,
})

const service = (name: string, ...addresses: string[]): object => ({
  service: `shop/${name}`,
  addresses: ['10.0.0.1'],
  ports: [{ port: 80, targets: [{ port: 8080, addresses }] }],
})

describe('POST /service_endpoints', () => {
  it('puts, deletes, and forgets what is not among all', async () => {
    const directory = await start()
    const first = await tell(call({ put: [service('a', '10.0.1.1'), service('b'), service('c')] }))
    expect([first.status, first.json]).toEqual([200, { services: 3 }])
    expect(directory.find('shop/a')).toEqual(service('a', '10.0.1.1'))
    await tell(call({ put: [service('a', '10.0.1.2')], delete: ['shop/b', 'shop/none'] }))
    expect(directory.all()).toEqual([service('a', '10.0.1.2'), service('c')])
    await tell(call({ only: ['shop/c', 'shop/later'] }))
    expect(directory.all()).toEqual([service('c')])
  })

  it('receives Services and ports behind which nothing is, as true alone', async () => {
    const directory = await start()
    const gone = { service: 'shop/a', addresses: ['10.0.0.1'], ports: [], isAbsent: true }
    const empty = (isEmpty: unknown): object => ({
      service: 'shop/b',
      addresses: ['10.0.0.2'],
      ports: [{ port: 80, targets: [], isEmpty }],
    })
    await tell(call({ put: [gone, empty(true)] }))
    expect(directory.all()).toEqual([gone, empty(true)])
    await tell(call({ put: [{ ...gone, isAbsent: 'yes' }, empty(1)] }))
    expect(directory.all()).toEqual([
      { service: 'shop/a', addresses: ['10.0.0.1'], ports: [] },
      { service: 'shop/b', addresses: ['10.0.0.2'], ports: [{ port: 80, targets: [] }] },
    ])
  })

  it('keeps what is repeated as it was, and changes no digest', async () => {
    const directory = await start()
    const state = async (): Promise<string> =>
      (await gateway.send('GET', '/api_specs?view=state')).text
    const before = await state()
    await tell(call({ put: [service('a', '10.0.1.1')] }))
    const known = directory.find('shop/a')
    await tell(call({ put: [service('a', '10.0.1.1')] }))
    expect(directory.find('shop/a')).toBe(known)
    expect(await state()).toBe(before)
  })

  it.each<[what: string, more: object, refusal: string, manager: string | null]>([
    ['of no manager', {}, '403 svc.error.not_owner', null],
    ['of another manager', { managedBy: 'other' }, '403 svc.error.not_owner', 'op'],
    ['of an earlier leader', { epoch: 2 }, '409 svc.error.stale_epoch', 'op'],
    ['that was overtaken', { sequence: 0 }, '409 svc.error.stale_sequence', 'op'],
  ])('refuses a call %s, and nothing of it is done', async (_, more, refusal, manager) => {
    const directory = await start(manager)
    await tell(call({ put: [service('a')] }))
    const held = directory.all()
    const response = await tell(call({ put: [service('b')], only: [], ...more }))
    expect(`${response.status} ${response.record.code}`).toBe(refusal)
    expect(directory.all()).toEqual(held)
  })

  it('tells an earlier leader the epoch, also where only a sync call had it', async () => {
    await start()
    await gateway.send('POST', '/api_specs/_sync', {
      json: { managedBy: 'op', epoch: 7, base: gateway.store.state().text() },
    })
    const response = await tell(call())
    expect([response.status, response.record['epoch']]).toEqual([409, 7])
  })

  it('takes the first call of another sender, whatever its number', async () => {
    const directory = await start()
    await tell(call({ put: [service('a')] }))
    expect((await tell(call({ sender: 'two', sequence: 0, only: [] }))).status).toBe(200)
    expect(directory.size).toBe(0)
  })

  it.each<[where: string, more: unknown]>([
    ['/managedBy', { managedBy: '' }],
    ['/epoch', { epoch: -1 }],
    ['/sender', { sender: 1 }],
    ['/sequence', { sequence: 1.5 }],
    ['/put', { put: {} }],
    ['/put/0', { put: ['shop/a'] }],
    ['/put/0/service', { put: [{ ...service('a'), service: 'a' }] }],
    ['/put/0/service', { put: [{ ...service('a'), service: 'shop/a/b' }] }],
    ['/put/0/service', { put: [{ ...service('a'), service: 'shop/__proto__' }] }],
    ['/put/0/addresses/0', { put: [{ ...service('a'), addresses: ['localhost'] }] }],
    ['/put/0/ports/0/port', { put: [{ ...service('a'), ports: [{ port: 0, targets: [] }] }] }],
    ['/put/0/ports/0/targets', { put: [{ ...service('a'), ports: [{ port: 80 }] }] }],
    ['/put/0/ports/0/targets/0/addresses/0', { put: [service('a', 'fe80::1%eth0')] }],
    ['/put/0/ports/0/targets/0/addresses', { put: [service('a', ...many(1001))] }],
    ['/delete/0', { delete: [null] }],
    ['/only/0', { only: ['shop'] }],
  ])('refuses what is unfit at %s', async (where, more) => {
    const directory = await start()
    const response = await tell({ ...call(), ...(more as object) })
    expect(response.status).toBe(400)
    expect(response.record.message).toContain(`${where}: expected`)
    expect(directory.size).toBe(0)
  })

  it('refuses more than it keeps, and keeps what it has', async () => {
    const directory = await start()
    const put = Array.from({ length: 100 }, (_, at) => service(`s${at}`, ...many(1000)))
    for (let at = 0; at < 100; at += 50) await tell(call({ put: put.slice(at, at + 50) }))
    const full = Array.from({ length: 51 }, (_, at) => service(`t${at}`, ...many(1000)))
    for (let at = 0; at < 50; at += 50) await tell(call({ put: full.slice(at, at + 50) }))
    const rest = Array.from({ length: 50 }, (_, at) => service(`u${at}`, ...many(1000)))
    expect((await tell(call({ put: rest }))).status).toBe(200)
    const response = await tell(call({ put: full.slice(50) }))
    expect([response.status, response.record.code]).toEqual([503, 'svc.error.overloaded'])
    expect(directory.size).toBe(200)
  })

  it('is for POST only', async () => {
    await start()
    const response = await gateway.send('GET', '/service_endpoints')
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
  })
})

function many(count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `10.1.${at >> 8}.${at & 255}`)
}
