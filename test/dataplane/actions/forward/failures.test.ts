// Tests that each way in which an upstream can fail is told from the others, over real sockets.

import { expect, it } from '@jest/globals'
import type { RequestFailure } from '../../../../dataplane/actions/request-failure.ts'
import { createGuard } from '../../../../dataplane/upstream/destinations/guard.ts'
import { createUpstream } from '../../../../dataplane/upstream/pooled-upstream.ts'
import { SYSTEM_CLOCK } from '../../../../dataplane/upstream/retry.ts'
import { constant } from '../../../../language/expression/template.ts'
import { listenRaw, refusedOrigin } from '../../upstream/servers.ts'
import { call, READ_ALL } from './forward-fixture.ts'
import { answering, gatewayTo, opened, serving } from './forward-rig.ts'

const silent = async (): Promise<string> => (await opened(listenRaw(() => undefined))).origin

const broken = async (): Promise<string> =>
  (await opened(listenRaw((socket) => socket.destroy()))).origin

const sending = async (response: string): Promise<string> => (await answering(response)).origin

const overTls = async (): Promise<string> =>
  (await sending('HTTP/1.1 400 Bad Request\r\n\r\n')).replace('http:', 'https:')

const json = (body: string): Promise<string> =>
  sending(
    `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )

it.each<[string, () => Promise<string>, Partial<RequestFailure>, string]>([
  [
    'nothing listens',
    refusedOrigin,
    { reason: 'refused', detail: expect.stringContaining('ECONNREFUSED') as unknown as string },
    'The upstream could not be reached.',
  ],
  [
    'the address is denied',
    () => Promise.resolve('http://169.254.169.254'),
    { reason: 'denied' },
    'The upstream could not be reached.',
  ],
  ['it hangs up', broken, { reason: 'reset' }, 'The upstream sent an invalid response.'],
  [
    'it does not speak HTTP',
    () => sending('hello\r\n\r\n'),
    { reason: 'malformed' },
    'The upstream sent an invalid response.',
  ],
  [
    'its body is no gzip',
    () => json('{}'),
    { reason: 'undecodable' },
    'The upstream sent a compressed body that is invalid or too large.',
  ],
])('%s', async (_, open, failure, message) => {
  const origin = await open()
  const gateway = await gatewayTo(origin, READ_ALL)
  const { error } = (await call(gateway)).json()
  expect(error).toMatchObject({ message })
  expect(JSON.stringify(error)).not.toContain(new URL(origin).host)
  expect(gateway.failures).toEqual([expect.objectContaining({ ...failure, upstream: origin })])
})

it('tells a name that does not exist', async () => {
  const origin = 'http://nowhere.test'
  const upstream = createUpstream({
    guard: createGuard(),
    resolve: (name, _options, callback) => {
      const error = new Error(`getaddrinfo ENOTFOUND ${name}`)
      callback(Object.assign(error, { code: 'ENOTFOUND' }), [])
    },
  })
  const gateway = await gatewayTo(origin, READ_ALL, { upstream })
  const { error } = (await call(gateway)).json()
  expect(error).toMatchObject({ message: 'The upstream could not be reached.' })
  const detail = expect.stringContaining('nowhere.test') as unknown
  expect(gateway.failures).toEqual([
    expect.objectContaining({ reason: 'dns', upstream: origin, detail }),
  ])
})

it('tells an upstream that is silent', async () => {
  const origin = await silent()
  const gateway = await gatewayTo(origin, READ_ALL, { timeoutMs: 100 })
  const { error } = (await call(gateway)).json()
  expect(error).toMatchObject({ message: 'The upstream did not answer in time.' })
  expect(gateway.failures).toEqual([
    expect.objectContaining({ reason: 'timeout', upstream: origin }),
  ])
})

it('tells an upstream that does not speak TLS', async () => {
  const gateway = await gatewayTo(await overTls(), READ_ALL)
  await call(gateway)
  expect(gateway.failures.map(({ reason }) => reason)).toEqual(['tls'])
})

it('counts the attempts', async () => {
  const origin = await refusedOrigin()
  const limits = { retries: constant(2), retryTimeout: constant(5000) }
  const gateway = await gatewayTo(
    origin,
    { ...READ_ALL, limits },
    { clock: { ...SYSTEM_CLOCK, now: () => 0, random: () => 0 } },
  )
  await call(gateway)
  expect(gateway.failures).toEqual([expect.objectContaining({ reason: 'refused', attempts: 3 })])
})

it.each([
  [503, 'status_503'],
  [500, 'upstream_status'],
  [404, 'upstream_status'],
])('names the status %d', async (status, reason) => {
  const { origin } = await serving((_request, response) => {
    response.writeHead(status).end('no')
  })
  const gateway = await gatewayTo(origin, READ_ALL)
  await call(gateway)
  expect(gateway.failures).toEqual([
    { reason, upstream: origin, attempts: 1, detail: `status ${status}` },
  ])
})

it('keeps why a response that passed through was cut off', async () => {
  const origin = await sending('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\nzz')
  const gateway = await gatewayTo(origin)
  await expect(call(gateway)).rejects.toThrow()
  expect(gateway.failures.map(({ reason }) => reason)).toEqual(['malformed'])
})

it('says nothing of what succeeded', async () => {
  const { origin } = await serving((_request, response) => response.end('good'))
  const gateway = await gatewayTo(origin)
  await call(gateway)
  expect(gateway.failures).toEqual([])
})
