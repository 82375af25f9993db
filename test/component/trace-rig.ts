// A router, an upstream and a document with everything that makes a span, in front of which any number of gateways
// start: what tests of traces share.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startRouter } from '../../dev/router/router.ts'
import { startEchoUpstream, type EchoUpstream } from '../support/echo-upstream.ts'
import { eventually } from '../support/eventually.ts'
import { startGateway, type GatewayProcess } from '../support/gateway-process.ts'
import { request } from '../support/http-request.ts'
import { addressOf, openRawClient } from '../support/raw-client.ts'
import { openRawPeer } from '../support/raw-wamp-peer.ts'
import type { TempDir } from '../support/temp-dir.ts'
import { register } from '../support/wamp-peer.ts'
import { answers, api, forwards, type Operation, post, REALM } from './gateway-client.ts'

export const TRACE = '0af7651916cd43dd8448eb211c80319c'
export const SPAN = 'b7ad6b7169203331'
export const FROM_PROXY: readonly string[] = ['--trusted-proxies', '127.0.0.1/32']
export const ODD_HEADERS = { traceparent: 'what a client sends', tracestate: 'as it is' } as const
export const PATIENCE = { withinMs: 15_000 } as const

export interface TraceRig extends AsyncDisposable {
  readonly upstream: EchoUpstream
  /** A gateway that serves `/traced` and has joined the router. */
  readonly start: (
    flags: readonly string[],
    env?: Readonly<Record<string, string>>,
  ) => Promise<GatewayProcess>
  /** Headers of the first request that the upstream got for that path. */
  readonly seenBy: (path: string) => Readonly<Record<string, readonly string[]>>
}

export const startTraceRig = async (): Promise<TraceRig> => {
  await using own = new AsyncDisposableStack()
  const router = await startRouter({ realms: [{ uri: REALM, anonymous: true }] })
  own.defer(() => router.close())
  const upstream = own.use(await startEchoUpstream())
  const callee = own.use(await openRawPeer({ url: router.wsUrl, realm: REALM }))
  await register(callee, 'com.add', ({ kwargs }) => ({ args: [kwargs] }))
  await register(callee, 'com.fail', () => ({ error: 'com.app.error.broken' }))
  await register(callee, 'com.never', () => undefined)
  const started = own.move()
  return {
    upstream,
    start: async (flags, env = {}) => {
      const gateway = await startGateway({ flags, env })
      await serve(gateway, router.wsUrl, documentOf(upstream.origin))
      return gateway
    },
    seenBy: (path) => {
      const [echo] = upstream.seen((each) => each === path)
      if (echo === undefined) throw new Error(`the upstream has not seen ${path}`)
      return echo.header
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  }
}

const wamp = (type: 'call' | 'publish', uri: string, more: object = {}): Operation => ({
  action: { type: `wamp_${type}`, [type === 'call' ? 'procedure' : 'topic']: uri, ...more },
})

const documentOf = (origin: string): object =>
  api('traced', {
    '/static/:name': answers({ ok: true }),
    '/forward/:name': forwards(origin, '/echo/{{request.bindings.name}}'),
    '/own': forwards(origin, '/echo/own', { headers: { traceparent: 'mine', x: '1' } }),
    '/flaky': forwards(origin, '/flaky/2/503/{{request.query_params.n}}', { retries: 3 }),
    '/refused': forwards('http://127.0.0.1:1', '/x'),
    '/call': wamp('call', 'com.add', { kwargs: { a: 1 } }),
    '/call-traced': wamp('call', 'com.add', { options: { forward_trace: true } }),
    '/fail': wamp('call', 'com.fail'),
    '/never': wamp('call', 'com.never', { timeout: 200 }),
    '/publish': wamp('publish', 'com.topic'),
    '/events': { action: { type: 'wamp_subscribe', topic: 'com.topic' } },
  })

const serve = async (gateway: GatewayProcess, url: string, document: object): Promise<void> => {
  for (const [path, body] of [
    ['/realms', { uri: REALM, router: { url } }],
    ['/api_specs', document],
  ] as const) {
    const { status, text } = await post(gateway, path, body)
    if (status !== 204) throw new Error(text)
  }
  await eventually(async () => {
    const { status } = await request(`${gateway.public}/traced/publish`)
    if (status !== 200) throw new Error(`the gateway has not joined the router: ${status}`)
  }, PATIENCE)
}

/** So many requests on one connection; the statuses of their responses. */
export const askMany = async (
  gateway: GatewayProcess,
  count: number,
): Promise<readonly number[]> => {
  await using client = await openRawClient(addressOf(gateway.public), 20_000)
  const head = 'GET /traced/static/x HTTP/1.1\r\nHost: a\r\n'
  const all = `${head}\r\n`.repeat(count - 1) + `${head}Connection: close\r\n\r\n`
  client.send([Buffer.from(all)])
  const responses = (await client.stream.takeToEnd()).toString()
  return [...responses.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
}

/** For a gateway's environment: it says which modules it has loaded, when it ends. */
export const watchLoading = ({ path }: TempDir): Readonly<Record<string, string>> => ({
  NODE_V8_COVERAGE: path,
})

/** prom-client has loaded @opentelemetry/api all along. */
const LOADED = /otlp-tracer\.ts|@opentelemetry\/(?:sdk|exporter|otlp|resources)/

/** Whether the gateway that has ended had loaded what only traces need. */
export const hasLoadedTracer = async ({ path }: TempDir): Promise<boolean> => {
  const names = await readdir(path)
  const texts = await Promise.all(names.map((name) => readFile(join(path, name), 'utf8')))
  if (!texts.some((text) => text.includes('dataplane/http/dispatch.ts')))
    throw new Error('the gateway has not said what it has loaded')
  return texts.some((text) => LOADED.test(text))
}
