// Every status of an upstream, every method, every way in which a document changes the outcome: what the head of the
// response promises is what comes, and the next response on the same connection is whole.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { load, REALM } from '../component/gateway-client.ts'
import { type Listening, listenRaw } from '../dataplane/upstream/servers.ts'
import { type GatewayProcess, startGateway } from '../support/gateway-process.ts'
import { addressOf, headerValues, openRawClient, type RawResponse } from '../support/raw-client.ts'

const STATUSES = [200, 204, 205, 206, 304, 404, 500, 600, 999]
const CONTENT = 'content'

/** How the upstream says how long its body is, also where it sends none. */
const FRAMINGS = {
  length: { head: `content-length: ${CONTENT.length}`, body: CONTENT },
  chunks: { head: 'transfer-encoding: chunked', body: `7\r\n${CONTENT}\r\n0\r\n\r\n` },
} as const
type FramingName = keyof typeof FRAMINGS

/** Of the body: `all` and `read` hand on what the upstream sent, as it is and within other text. */
interface Variant {
  readonly response: object
  readonly status?: number
  readonly body: 'all' | 'read' | 'own'
}

const VARIANTS: Readonly<Record<string, Variant>> = {
  nothing: { response: {}, body: 'all' },
  'status 200': { response: { on_result: { status_code: 200 } }, status: 200, body: 'all' },
  'status 201': { response: { on_result: { status_code: 201 } }, status: 201, body: 'all' },
  'status 204': { response: { on_result: { status_code: 204 } }, status: 204, body: 'all' },
  'status 205': { response: { on_result: { status_code: 205 } }, status: 205, body: 'all' },
  'status 304': { response: { on_result: { status_code: 304 } }, status: 304, body: 'all' },
  headers: { response: { on_result: { headers: '{{action.result.headers}}' } }, body: 'all' },
  'the same body': { response: { on_result: { body: '{{action.result.body}}' } }, body: 'all' },
  'headers and status': {
    response: { on_result: { headers: '{{action.result.headers}}', status_code: 200 } },
    status: 200,
    body: 'all',
  },
  'a body of its own': { response: { on_result: { body: 'own' } }, body: 'own' },
  'status and body': {
    response: { on_result: { body: 'own', status_code: 203 } },
    status: 203,
    body: 'own',
  },
  'a body with the body': {
    response: { on_result: { body: { got: '{{action.result.body}}' } } },
    body: 'read',
  },
}

/** By which operation a client comes, and by which method the upstream is asked. */
const WAYS = {
  GET: { method: 'GET', upstream: 'GET', path: 'as-it-is' },
  HEAD: { method: 'HEAD', upstream: 'HEAD', path: 'as-it-is' },
  POST: { method: 'POST', upstream: 'POST', path: 'as-it-is' },
  'GET by http_method head': { method: 'GET', upstream: 'HEAD', path: 'by-head' },
  'HEAD by http_method get': { method: 'HEAD', upstream: 'GET', path: 'by-get' },
} as const
type Way = (typeof WAYS)[keyof typeof WAYS]

const PERSISTENCES = {
  'HTTP/1.1': { version: 'HTTP/1.1', header: '', isLast: false },
  'HTTP/1.1, close': { version: 'HTTP/1.1', header: 'Connection: close\r\n', isLast: true },
  'HTTP/1.0, keep-alive': {
    version: 'HTTP/1.0',
    header: 'Connection: keep-alive\r\n',
    isLast: false,
  },
} as const
type Persistence = (typeof PERSISTENCES)[keyof typeof PERSISTENCES]

let gateway: GatewayProcess
let upstream: Listening

const isBodyless = (status: number): boolean => status === 204 || status === 304

beforeAll(async () => {
  upstream = await listenRaw((socket, text) => {
    const [, method, status = '', framing] = /^(\w+) \S*\/(\d+)\/(\w+) /.exec(text) ?? []
    if (method === undefined) return
    const { head, body } = FRAMINGS[framing as FramingName]
    const comes = method !== 'HEAD' && !isBodyless(Number(status))
    const coding = comes ? '' : 'content-encoding: br\r\ncontent-range: bytes 0-6/7\r\n'
    socket.write(
      `HTTP/1.1 ${status} S\r\ncontent-type: text/plain\r\netag: "e"\r\nx-up: up\r\n${coding}` +
        `${head}\r\n\r\n${comes ? body : ''}`,
    )
  })
  gateway = await startGateway()
  const paths = Object.values(VARIANTS).flatMap(({ response }, index) => {
    const operation = (http_method?: string): object => ({
      action: { type: 'forward', host: upstream.origin, ...(http_method && { http_method }) },
      response,
    })
    const place = (way: string): string => `/${way}/${index}/:status/:framing`
    return [
      [place('as-it-is'), { get: operation(), post: operation() }],
      [place('by-head'), { get: operation('head') }],
      [place('by-get'), { get: operation('get') }],
    ] as const
  })
  const ok = { get: { action: { type: 'static', body: 'fine' }, response: {} } }
  const versions = {
    v1: { base_path: '/', paths: { ...Object.fromEntries(paths), '/ok': ok } },
  }
  await load(gateway, { id: 'framing', host: '_', realm_uri: REALM, versions })
})

afterAll(async () => {
  await gateway.stop()
  await upstream.close()
})

interface Expected {
  readonly status: number
  readonly body: string | ReturnType<typeof expect.stringContaining>
}

const isRecord = expect.stringContaining('svc.error.bad_gateway') as Expected['body']

/** A GET that reads the body asks for one, whatever its `http_method`. */
const asksForBody = (way: Way, variant: Variant): boolean =>
  way.upstream !== 'HEAD' || variant.body === 'read'

/** No status, or a 304 that was not asked for, and the document has no body to answer with. */
const isRefused = (status: number, variant: Variant): boolean =>
  status > 599 || (status === 304 && variant.body === 'read')

const expectedOf = (status: number, way: Way, variant: Variant): Expected => {
  const isHead = way.method === 'HEAD'
  if (isRefused(status, variant)) return { status: 504, body: isHead ? '' : isRecord }
  const asks = asksForBody(way, variant)
  if (status >= 400) return { status, body: isHead || !asks ? '' : CONTENT }
  const own = variant.status ?? status
  if (isHead || isBodyless(own) || own === 205) return { status: own, body: '' }
  const comes = asks && !isBodyless(status)
  const content = comes ? CONTENT : ''
  const body = { all: content, read: JSON.stringify({ got: content }), own: '"own"' }[variant.body]
  return { status: own, body }
}

/** By HTTP/1.0 a response without a length ends its connection. */
const mayEnd = ({ version }: Persistence, framing: FramingName, { body }: Expected): boolean =>
  version === 'HTTP/1.0' && (framing === 'chunks' || body === '')

/** What came, to be compared with what should have. */
const converse = async (
  target: string,
  { method }: Way,
  { version, header, isLast }: Persistence,
): Promise<object> => {
  await using client = await openRawClient(addressOf(gateway.public), 15_000)
  const next = 'GET /ok HTTP/1.1\r\nHost: a\r\n\r\n'
  client.send([
    Buffer.from(
      `${method} ${target} ${version}\r\nHost: a\r\n${header}Content-Length: 0\r\n\r\n${next}`,
    ),
  ])
  const first = await client.response(method === 'HEAD')
  const hasLength = headerValues(first, 'content-length').length > 0
  if (isLast || (version === 'HTTP/1.0' && !hasLength))
    return { ...told(first), next: '', rest: (await client.stream.takeToEnd()).length }
  const second = await client.response()
  return { ...told(first), next: second.body.toString(), rest: client.stream.length }
}

const told = (response: RawResponse) => ({
  status: response.status,
  body: response.body.toString(),
})

describe.each(Object.entries(WAYS))('%s', (_, way) => {
  it.each(Object.entries(VARIANTS))('on_result: %s', async (name, variant) => {
    const index = Object.keys(VARIANTS).indexOf(name)
    for (const framing of Object.keys(FRAMINGS) as FramingName[]) {
      const outcomes = STATUSES.flatMap((status) =>
        Object.entries(PERSISTENCES).map(async ([key, persistence]) => {
          const target = `/${way.path}/${index}/${status}/${framing}`
          const outcome = await converse(target, way, persistence).catch((error: unknown) => ({
            error: String(error),
          }))
          const expected = expectedOf(status, way, variant)
          const next = persistence.isLast ? '' : '"fine"'
          const either = mayEnd(persistence, framing, expected) && { next }
          const whole = { ...expected, next, rest: 0 }
          expect([target, key, { ...outcome, ...either }]).toEqual([target, key, whole])
        }),
      )
      await Promise.all(outcomes)
    }
  })
})

describe('an empty response where the upstream describes a content', () => {
  const ask = async (target: string): Promise<RawResponse> => {
    await using client = await openRawClient(addressOf(gateway.public), 15_000)
    client.send([Buffer.from(`GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`)])
    const response = await client.response()
    return response
  }
  const index = (name: string): number => Object.keys(VARIANTS).indexOf(name)
  const LEFT_OUT = ['etag', 'content-type', 'content-encoding', 'content-range']

  it.each([
    ['304 that becomes 200', `/as-it-is/${index('status 200')}/304/length`, 200],
    ['204 that becomes 201', `/as-it-is/${index('status 201')}/204/length`, 201],
    ['the response to HEAD', `/by-head/${index('nothing')}/200/length`, 200],
  ])('%s: nothing that describes one', async (_, target, status) => {
    const response = await ask(target)
    expect(response.status).toBe(status)
    expect(headerValues(response, 'content-length')).toEqual(['0'])
    expect(headerValues(response, 'x-up')).toEqual(['up'])
    for (const name of LEFT_OUT) expect([name, headerValues(response, name)]).toEqual([name, []])
  })

  it('headers that the document hands on by itself stay, but for how bytes are to be read', async () => {
    const response = await ask(`/as-it-is/${index('headers and status')}/304/length`)
    expect(headerValues(response, 'etag')).toEqual(['"e"'])
    for (const name of ['content-encoding', 'content-range'])
      expect([name, headerValues(response, name)]).toEqual([name, []])
  })

  it('a 304 that stays one keeps them all', async () => {
    const response = await ask(`/as-it-is/${index('nothing')}/304/length`)
    expect(headerValues(response, 'etag')).toEqual(['"e"'])
    expect(headerValues(response, 'content-length')).toEqual(['7'])
  })
})
