import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { createSecureServer } from 'node:http2'
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net'
import { afterEach, describe, expect, it } from '@jest/globals'
import { SYSTEM_CLOCK } from '../../../../base/clock.ts'
import {
  ApiError,
  type KubernetesApi,
  type ListOptions,
  TYPES,
  type WatchEvent,
} from '../../../../operator/kubernetes/client/api.ts'
import { OWN_TYPES } from '../../../../operator/resource/own-types.ts'
import {
  createKubernetesApi,
  type KubernetesApiOptions,
} from '../../../../operator/kubernetes/client/client.ts'
import type { Cluster } from '../../../../operator/kubernetes/config/cluster.ts'
import type { RequestFacts } from '../../../../operator/kubernetes/client/request.ts'
import { createSilentLog } from '../../../../telemetry/log.ts'
import { createCertificateAuthority } from '../../../support/certificates.ts'
import { eventually } from '../../../support/eventually.ts'
import { freePort } from '../../../support/free-port.ts'
import { createManualClock } from '../../../support/manual-clock.ts'
import { settled } from '../../../support/settled.ts'
import {
  answerJson,
  type RequestHandler,
  failWith,
  startFakeApiServer,
  type FakeApiServer,
  type FakeApiServerOptions,
} from '../fake-api-server.ts'

const closing: (() => PromiseLike<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** Waits are noted, and over as soon as `during` sees them. */
const hasty = () => {
  const clock = createManualClock({ random: () => 0 })
  const waits: number[] = []
  const during = async <T>(work: Promise<T>): Promise<T> => {
    const progress = { isOver: false }
    const end = (): void => void (progress.isOver = true)
    work.then(end, end)
    while (!progress.isOver) {
      await settled()
      if (clock.nextInMs === undefined) continue
      waits.push(clock.nextInMs)
      clock.advance(clock.nextInMs)
    }
    return work
  }
  return { clock, waits, during }
}

const clientOf = (cluster: Cluster, more: Partial<KubernetesApiOptions> = {}): KubernetesApi => {
  const api = createKubernetesApi({
    cluster,
    clock: SYSTEM_CLOCK,
    log: createSilentLog(),
    userAgent: 'test/1',
    ...more,
  })
  closing.push(() => api.close())
  return api
}

const serve = async (
  handler: RequestHandler,
  options?: FakeApiServerOptions,
): Promise<FakeApiServer> => {
  const server = await startFakeApiServer(handler, options)
  closing.push(() => server[Symbol.asyncDispose]())
  return server
}

const failureOf = async (work: Promise<unknown>): Promise<ApiError> => {
  try {
    await work
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
  throw new Error('it did not fail')
}

const AS_A_CHECK = { limit: 1, resourceVersion: '7', resourceVersionMatch: 'NotOlderThan' } as const
const A_MAP = { namespace: 'shop', name: 'a' }
const echo: RequestHandler = ({ method, path }, response) => {
  answerJson(response, 200, { method, path })
}

describe('calls of the client', () => {
  it('are what the API server expects', async () => {
    const server = await serve(echo)
    const api = clientOf(server.cluster)
    const { configMaps } = TYPES
    await api.get(configMaps, A_MAP)
    await api.create(configMaps, 'shop', { a: 1 })
    await api.replace(configMaps, A_MAP, { a: 2 })
    await api.apply(configMaps, A_MAP, { a: 3 }, { fieldManager: 'us', subresource: 'status' })
    await api.patch(configMaps, A_MAP, { a: null }, { subresource: 'status' })
    await api.delete(configMaps, A_MAP)
    const base = '/api/v1/namespaces/shop/configmaps'
    const told = server.requests.map(({ method, path, query, body, headers }) => ({
      call: `${method} ${path} ${query.toString()}`.trim(),
      body,
      type: headers['content-type'],
      accept: headers.accept,
      agent: headers['user-agent'],
    }))
    const plain = { accept: 'application/json', agent: 'test/1' }
    const json = { ...plain, type: 'application/json' }
    expect(told).toEqual([
      { ...plain, call: `GET ${base}/a`, body: '', type: undefined },
      { ...json, call: `POST ${base}`, body: '{"a":1}' },
      { ...json, call: `PUT ${base}/a`, body: '{"a":2}' },
      {
        ...plain,
        call: `PATCH ${base}/a/status fieldManager=us&force=true`,
        body: '{"a":3}',
        type: 'application/apply-patch+yaml',
        accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
      },
      {
        ...plain,
        call: `PATCH ${base}/a/status`,
        body: '{"a":null}',
        type: 'application/merge-patch+json',
      },
      { ...plain, call: `DELETE ${base}/a`, body: '', type: undefined },
    ])
  })

  it('apply as a person asks: with conflicts, without storing anything, and with every warning', async () => {
    const server = await serve((_, response) => {
      const warning = [
        '299 - "unknown field \\"spec.a\\""',
        '299 - "b", 299 api "c"',
        '110 - "old"',
      ]
      answerJson(response, 200, {}, { warning: warning as unknown as string })
    })
    const warnings: string[] = []
    await clientOf(server.cluster).apply(
      OWN_TYPES.realms,
      A_MAP,
      {},
      {
        fieldManager: 'svc',
        force: false,
        dryRun: true,
        fieldValidation: 'Strict',
        returns: 'object',
        onWarning: (text) => warnings.push(text),
      },
    )
    expect(server.requests[0]?.query.toString()).toBe(
      'fieldManager=svc&force=false&dryRun=All&fieldValidation=Strict',
    )
    expect(server.requests[0]?.headers.accept).toBe('application/json')
    expect(warnings).toEqual(['unknown field "spec.a"', 'b', 'c'])
  })

  it('go below the path of the server, if it has one', async () => {
    const server = await serve(echo)
    const api = clientOf({ ...server.cluster, server: `${server.cluster.server}/clusters/c-1/` })
    expect(await api.get(TYPES.configMaps, A_MAP)).toMatchObject({
      path: '/clusters/c-1/api/v1/namespaces/shop/configmaps/a',
    })
  })

  it('list objects with their kind', async () => {
    const server = await serve((_, response) => {
      answerJson(response, 200, {
        metadata: { resourceVersion: '7', continue: 'next' },
        items: [{ metadata: { name: 'a' } }],
      })
    })
    const asked = { labelSelector: 'a=b', fieldSelector: 'c=d', limit: 1, continue: 'x' } as const
    expect(await clientOf(server.cluster).list(OWN_TYPES.realms, asked)).toEqual({
      resourceVersion: '7',
      continue: 'next',
      items: [{ apiVersion: 'gateway.svc.dev/v1alpha1', kind: 'Realm', metadata: { name: 'a' } }],
    })
    expect(Object.fromEntries(server.requests[0]?.query ?? [])).toEqual({
      labelSelector: 'a=b',
      fieldSelector: 'c=d',
      limit: '1',
      continue: 'x',
    })
  })

  it.each([
    ['no JSON', '{"data": "aHVudGVyMg=='],
    ['a list of a strange shape', '{"metadata":{"resourceVersion":"1"},"items":"aHVudGVyMg=="}'],
    ['no version', '{"metadata":{},"items":[]}'],
    ['no object', '"aHVudGVyMg=="'],
  ])('that are answered with %s fail without quoting it', async (_, body) => {
    const server = await serve((__, response) => {
      response.end(body)
    })
    const error = await failureOf(clientOf(server.cluster).list(TYPES.secrets, {}))
    expect(error).toMatchObject({ reason: 'Unreadable', cause: undefined })
    expect(error.message).not.toContain('aHVud')
  })

  it('take an empty list as Go writes it', async () => {
    const server = await serve((_, response) => {
      answerJson(response, 200, { metadata: { resourceVersion: '1', continue: '' }, items: null })
    })
    const list = await clientOf(server.cluster).list(TYPES.pods, {})
    expect(list).toEqual({ resourceVersion: '1', items: [] })
  })

  it('to impossible names are not sent', async () => {
    const server = await serve(echo)
    const api = clientOf(server.cluster)
    const error = await failureOf(api.delete(TYPES.secrets, { namespace: 'shop', name: '' }))
    expect(error).toMatchObject({ status: 400, reason: 'Invalid' })
    expect(server.requests).toEqual([])
  })
})

describe('requests that fail', () => {
  it('are sent again after the time that the API server asks for', async () => {
    let refusals = 2
    const server = await serve((_, response) => {
      if ((refusals -= 1) < 0) answerJson(response, 200, { ok: true })
      else failWith(response, 429, { reason: 'TooManyRequests', retryAfter: '3' })
    })
    const { clock, waits, during } = hasty()
    const facts: RequestFacts[] = []
    const onRequest = (told: RequestFacts): void => void facts.push(told)
    const api = clientOf(server.cluster, { clock, onRequest })
    expect(await during(api.create(TYPES.configMaps, 'shop', {}))).toEqual({ ok: true })
    expect(waits).toEqual([3000, 3000])
    expect(facts.map(({ verb, code }) => `${verb} ${code}`)).toEqual([
      'create 429',
      'create 429',
      'create 200',
    ])
  })

  it('are given up after some tries', async () => {
    const server = await serve((_, response) => {
      failWith(response, 503, { message: 'later', retryAfter: '1' })
    })
    const { clock, during } = hasty()
    const getting = clientOf(server.cluster, { clock }).get(TYPES.pods, A_MAP)
    const error = await failureOf(during(getting))
    expect(error).toMatchObject({ status: 503, retryAfterMs: 1000 })
    expect(server.requests).toHaveLength(4)
  })

  it.each([
    ['create', 503, 1],
    ['get', 500, 1],
  ] as const)('are sent once where that is safer: %s %d', async (verb, status, times) => {
    const retryAfter = verb === 'create' ? { retryAfter: '0' } : {}
    const server = await serve((_, response) => {
      failWith(response, status, { message: 'storm', ...retryAfter })
    })
    const api = clientOf(server.cluster)
    const call = verb === 'get' ? api.get(TYPES.pods, A_MAP) : api.create(TYPES.pods, 'shop', {})
    expect(await failureOf(call)).toMatchObject({ status })
    expect(server.requests).toHaveLength(times)
  })

  it('because the connection broke are sent again at once, where that is safe', async () => {
    const breaking: RequestHandler = (_, response) => {
      server.answering(echo)
      response.destroy()
    }
    const server = await serve(breaking)
    const { clock, during } = hasty()
    const api = clientOf(server.cluster, { clock })
    expect(await during(api.get(TYPES.pods, A_MAP))).toMatchObject({ method: 'GET' })
    expect(server.requests).toHaveLength(2)
    server.answering(breaking)
    const replacing = api.replace(TYPES.pods, A_MAP, {})
    expect(await failureOf(during(replacing))).toMatchObject({ status: 0 })
    expect(server.requests).toHaveLength(3)
  })

  it.each<[string, ListOptions, number]>([
    ['a list is asked for again, for it was not sent', {}, 2],
    ['a check of a version tells that the API server was away', AS_A_CHECK, 1],
  ])('without a connection at all: %s', async (_, options, times) => {
    let connections = 0
    const server = createTcpServer((socket) => {
      connections += 1
      socket.resetAndDestroy()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    closing.push(() => new Promise((resolve) => server.close(resolve)))
    const { port } = server.address() as AddressInfo
    const { clock, during } = hasty()
    const credentials = () => Promise.resolve({ headers: {}, tls: {} })
    const cluster = { server: `https://127.0.0.1:${port}`, namespace: 'shop', credentials }
    const api = clientOf(cluster, { clock })
    expect(await failureOf(during(api.list(TYPES.pods, options)))).toMatchObject({
      status: 0,
      reason: 'Unconnected',
      message:
        'pods: the API server is unreachable: it closed the connection before it was established',
    })
    expect(connections).toBe(times)
  })

  it('speak HTTP/1.1: a watch has a connection of its own', async () => {
    const ca = createCertificateAuthority('ours')
    const server = createSecureServer({ ...ca.issue('kubernetes'), allowHTTP1: true })
    server.on('request', ({ httpVersion }, response) => {
      response.end(JSON.stringify({ httpVersion }))
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    closing.push(() => new Promise((resolve) => server.close(resolve)))
    const { port } = server.address() as AddressInfo
    const given = { headers: {}, tls: { ca: ca.cert, servername: 'kubernetes' } }
    const credentials = () => Promise.resolve(given)
    const api = clientOf({ server: `https://127.0.0.1:${port}`, namespace: 'shop', credentials })
    expect(await api.get(TYPES.pods, A_MAP)).toEqual({ httpVersion: '1.1' })
    await api.close()
  })

  it('with 401 are sent again with other credentials, once', async () => {
    let token = 'old-token'
    const asked: boolean[] = []
    let given = { headers: { authorization: `Bearer ${token}` }, tls: {} }
    const credentials: Cluster['credentials'] = (refused) => {
      asked.push(refused !== undefined)
      if (refused !== undefined && token !== 'old-token') {
        given = { headers: { authorization: `Bearer ${token}` }, tls: {} }
      }
      return Promise.resolve(given)
    }
    const server = await serve(
      ({ headers }, response) => {
        if (headers.authorization === 'Bearer new-token') answerJson(response, 200, { ok: true })
        else failWith(response, 401, { reason: 'Unauthorized', message: 'Unauthorized' })
      },
      { cluster: { credentials } },
    )
    const api = clientOf(server.cluster)
    const error = await failureOf(api.get(TYPES.pods, A_MAP))
    expect(error).toMatchObject({ status: 401, reason: 'Unauthorized' })
    expect(JSON.stringify([error.message, error.cause])).not.toContain('old-token')
    expect(asked).toEqual([false, true])
    token = 'new-token'
    expect(await api.create(TYPES.pods, 'shop', {})).toEqual({ ok: true })
    expect(server.requests).toHaveLength(3)
  })

  it('for want of credentials say so', async () => {
    const credentials = (): never => {
      throw new Error('the program "login" failed')
    }
    const server = await serve(echo, { cluster: { credentials } })
    const error = await failureOf(clientOf(server.cluster).get(TYPES.pods, A_MAP))
    expect(error).toMatchObject({
      status: 0,
      reason: 'NoCredentials',
      message: expect.stringContaining('login') as unknown,
    })
  })

  it('because nothing listens say so', async () => {
    const server = `http://127.0.0.1:${await freePort()}`
    const credentials = { headers: {}, tls: {} }
    const api = clientOf({
      server,
      namespace: '',
      credentials: () => Promise.resolve(credentials),
    })
    expect(await failureOf(api.get(TYPES.pods, A_MAP))).toMatchObject({
      status: 0,
      message: 'pods: the API server is unreachable: connection refused',
    })
  })

  it.each([
    ['another', 'not trusted'],
    ['own', 'ok'],
  ])('because of its certificate, signed by %s CA: %s', async (which, words) => {
    const ca = createCertificateAuthority('ours')
    const tls = ca.issue('kubernetes')
    const trusted = which === 'own' ? ca : createCertificateAuthority('another')
    const given = { headers: {}, tls: { ca: trusted.cert, servername: 'kubernetes' } }
    const credentials = (): Promise<typeof given> => Promise.resolve(given)
    const server = await serve(echo, { tls, cluster: { credentials } })
    const api = clientOf(server.cluster)
    const outcome = await api.get(TYPES.pods, A_MAP).then(
      () => 'ok',
      (error: unknown) => (error instanceof ApiError ? error.message : ''),
    )
    expect(outcome).toContain(words)
  })

  it('by their signal throw its reason', async () => {
    const server = await serve(() => undefined)
    const stopping = new AbortController()
    const listing = clientOf(server.cluster).list(TYPES.pods, {}, stopping.signal)
    const thrown = listing.catch((error: unknown) => error)
    await eventually(() => {
      expect(server.requests).toHaveLength(1)
    })
    const reason = new Error('enough')
    stopping.abort(reason)
    expect(await thrown).toBe(reason)
  })

  it('by the end of the client say so, also those that come later', async () => {
    const server = await serve(() => undefined)
    const api = clientOf(server.cluster)
    const pending = failureOf(api.get(TYPES.pods, A_MAP))
    await eventually(() => {
      expect(server.requests).toHaveLength(1)
    })
    await api.close()
    const later = await failureOf(api.get(TYPES.pods, A_MAP))
    for (const error of [await pending, later]) {
      expect(error).toMatchObject({ status: 0, message: 'the client is closed' })
    }
  })

  it('in a hook of metrics do no harm', async () => {
    const server = await serve(echo)
    const onRequest = (): never => {
      throw new Error('hook')
    }
    const api = clientOf(server.cluster, { onRequest })
    await expect(api.get(TYPES.pods, A_MAP)).resolves.toBeDefined()
  })
})

describe('connections', () => {
  it('are few for many requests', async () => {
    const server = await serve(echo)
    const api = clientOf(server.cluster)
    for (let round = 0; round < 3; round += 1) {
      await Promise.all(Array.from({ length: 30 }, () => api.get(TYPES.pods, A_MAP)))
    }
    expect(server.requests).toHaveLength(90)
    expect(server.connections).toBeLessThanOrEqual(8)
  })

  it('of watches, hung requests and a spent burst do not hold up a Lease', async () => {
    const server = await serve(({ path }, response) => {
      if (path.includes('leases')) answerJson(response, 200, { ok: true })
    })
    const api = clientOf(server.cluster, { rate: { perSecond: 1, burst: 20 } })
    const stopping = new AbortController()
    const idle = Array.from({ length: 40 }, () => api.get(TYPES.pods, A_MAP).catch(() => undefined))
    // All connections that requests share.
    await eventually(() => {
      expect(server.requests).toHaveLength(8)
    })
    const watches = Array.from({ length: 5 }, () =>
      api
        .watch(TYPES.pods, { resourceVersion: '1', timeoutSeconds: 5 }, stopping.signal)
        .next()
        .catch(() => undefined),
    )
    await eventually(() => {
      expect(server.requests.filter(({ query }) => query.has('watch'))).toHaveLength(5)
    })
    await expect(api.get(TYPES.leases, A_MAP)).resolves.toEqual({ ok: true })
    stopping.abort(new Error('enough'))
    await api.close()
    await Promise.all([...idle, ...watches])
  })

  it('go through a proxy, which sees nothing but names', async () => {
    const asked: string[] = []
    const proxy = createServer().on('connect', (request, socket) => {
      asked.push(request.url ?? '')
      const [host = '', port = ''] = (request.url ?? '').split(':')
      const onward = connect(Number(port), host, () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        onward.pipe(socket).pipe(onward)
      })
    })
    proxy.listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    closing.push(async () => {
      proxy.close()
      proxy.closeAllConnections()
      await Promise.resolve()
    })
    const ca = createCertificateAuthority('ours')
    const given = { headers: {}, tls: { ca: ca.cert, servername: 'kubernetes' } }
    const { port } = proxy.address() as AddressInfo
    const cluster = {
      credentials: () => Promise.resolve(given),
      proxyUrl: `http://127.0.0.1:${port}`,
    }
    const server = await serve(echo, { tls: ca.issue('kubernetes'), cluster })
    const api = clientOf(server.cluster)
    for (let times = 0; times < 20; times += 1) await api.get(TYPES.pods, A_MAP)
    expect(new Set(asked)).toEqual(new Set([new URL(server.cluster.server).host]))
    expect(asked.length).toBeLessThanOrEqual(8)
  })

  it('are recreated with a new certificate, while what is under way ends on the old ones', async () => {
    const ca = createCertificateAuthority('ours')
    const tls = ca.issue('kubernetes')
    let given = { headers: {}, tls: { ca: ca.cert, servername: 'kubernetes', key: '', cert: '' } }
    const renew = (): void => {
      const { cert, key } = ca.issue('operator')
      given = { headers: {}, tls: { ca: ca.cert, servername: 'kubernetes', cert, key } }
    }
    renew()
    const credentials = (): Promise<typeof given> => Promise.resolve(given)
    const late: (() => void)[] = []
    const server = await serve(
      (request, response) => {
        late.push(() => {
          echo(request, response)
        })
      },
      { tls, cluster: { credentials } },
    )
    const api = clientOf(server.cluster)
    const first = api.get(TYPES.pods, A_MAP)
    await eventually(() => {
      expect(late).toHaveLength(1)
    })
    renew()
    const second = api.get(TYPES.pods, A_MAP)
    await eventually(() => {
      expect(late).toHaveLength(2)
    })
    for (const answer of late) answer()
    await expect(Promise.all([first, second])).resolves.toHaveLength(2)
    expect(server.connections).toBe(2)
  })
})

describe('a watch', () => {
  const watching = (server: FakeApiServer, more: Partial<KubernetesApiOptions> = {}) => {
    const stopping = new AbortController()
    const opened: boolean[] = []
    const asked = { namespace: 'shop', resourceVersion: '5', timeoutSeconds: 300 }
    const events = clientOf(server.cluster, more).watch(
      TYPES.pods,
      { ...asked, onOpen: () => opened.push(true) },
      stopping.signal,
    )
    return { stopping, opened, events }
  }
  const ADDED = '{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"6"}}}\n'

  it('gives events as they come, and ends when the server ends it', async () => {
    const rest = Promise.withResolvers<() => void>()
    const server = await serve((_, response) => {
      response.writeHead(200)
      response.write(ADDED.slice(0, 10))
      rest.resolve(() => response.end(ADDED.slice(10)))
    })
    const { events, opened } = watching(server)
    const first = events.next()
    await eventually(() => {
      expect(opened).toEqual([true])
    })
    const sendRest = await rest.promise
    sendRest()
    expect((await first).value).toMatchObject({ type: 'ADDED' })
    expect((await events.next()).done).toBe(true)
    expect(opened).toEqual([true])
    expect(Object.fromEntries(server.requests[0]?.query ?? [])).toEqual({
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: '5',
      timeoutSeconds: '300',
    })
  })

  const readAll = async (events: AsyncIterable<WatchEvent>, onEvent = (): void => undefined) => {
    for await (const event of events) {
      expect(event.type).toBe('ADDED')
      onEvent()
    }
  }

  it.each<[string, RequestHandler, object]>([
    [
      'is refused',
      (_, r) => {
        failWith(r, 410, { reason: 'Expired' })
      },
      { status: 410 },
    ],
    [
      'is too much',
      (_, r) => {
        failWith(r, 429, { retryAfter: '7' })
      },
      { retryAfterMs: 7000 },
    ],
    [
      'ends within a line',
      (_, r) => {
        r.end(ADDED.slice(0, 20))
      },
      { reason: 'Unreadable' },
    ],
  ])('that %s throws', async (_, handler, expected) => {
    const server = await serve(handler)
    const { events } = watching(server)
    expect(await failureOf(readAll(events))).toMatchObject(expected)
    expect(server.requests).toHaveLength(1)
  })

  it('that breaks throws', async () => {
    const responses: ServerResponse[] = []
    const server = await serve((_, response) => {
      responses.push(response)
      response.write(ADDED)
    })
    const breaks = (): void => void responses[0]?.destroy()
    const error = await failureOf(readAll(watching(server).events, breaks))
    expect(error).toMatchObject({ reason: 'Broken' })
    expect(server.requests).toHaveLength(1)
  })

  // All at once: undici looks at its times once in half a second.
  it('or a response that never begins or falls silent ends in time', async () => {
    const IMPATIENT = { timeouts: { responseMs: 100 } }
    const beginning: RequestHandler = (_, response) => void response.write(ADDED)
    const [silent, begun] = [await serve(() => undefined), await serve(beginning)]
    const getFrom = ({ cluster }: FakeApiServer) =>
      failureOf(clientOf(cluster, IMPATIENT).get(TYPES.pods, A_MAP))
    const watchFrom = (server: FakeApiServer, timeouts: object) =>
      failureOf(readAll(watching(server, { timeouts }).events))
    const late = { status: 0, message: expect.stringContaining('did not respond') as unknown }
    const hushed = { status: 0, message: expect.stringContaining('stopped sending') as unknown }
    // One time is for its head and for its body: on a busy machine the head may be late, then it is asked once more.
    const untilHushed = eventually(async () => {
      expect(await getFrom(begun)).toMatchObject(hushed)
    })
    const [noResponse, noWatch, halfWatch] = await Promise.all([
      getFrom(silent),
      watchFrom(silent, IMPATIENT.timeouts),
      watchFrom(begun, { watchSilenceMs: 100 }),
      untilHushed,
    ])
    expect(noResponse).toMatchObject(late)
    expect(noWatch).toMatchObject(late)
    expect(halfWatch).toMatchObject({ ...hushed, reason: 'Silent' })
    const watches = [...silent.requests, ...begun.requests].filter(({ query }) =>
      query.has('watch'),
    )
    expect(watches).toHaveLength(2)
  })

  it('and what else is under way ends when the API server is back after it was away', async () => {
    const clock = createManualClock({ random: () => 0 })
    let isAway = false
    const server = await serve(({ query, path }, response) => {
      if (query.has('watch')) response.write(ADDED)
      else if (!isAway) answerJson(response, 200, { metadata: { resourceVersion: '1' } })
      else if (path.endsWith('/leases')) response.destroy()
    })
    const api = clientOf(server.cluster, { clock })
    const returns: number[] = []
    api.onReturn(() => returns.push(clock.now()))
    const stream = api.watch(
      TYPES.pods,
      { resourceVersion: '1', timeoutSeconds: 300 },
      new AbortController().signal,
    )
    await stream.next()
    isAway = true
    const hung = api.list(TYPES.pods, {})
    await eventually(() => {
      expect(server.requests).toHaveLength(2)
    })
    expect((await failureOf(api.create(TYPES.leases, 'shop', {}))).status).toBe(0)
    clock.advance(3_000)
    isAway = false
    await api.get(TYPES.leases, A_MAP)
    expect(returns).toEqual([clock.now()])
    // A request that is sent now has a new connection.
    const { connections } = server
    await api.get(TYPES.pods, A_MAP)
    expect(server.connections).toBe(connections + 1)
    const broken = failureOf(stream.next())
    clock.advance(500)
    expect(await broken).toMatchObject({ status: 0, reason: 'Broken' })
    await eventually(() => {
      expect(clock.nextInMs).toBeDefined()
      clock.advance(100)
    })
    expect((await hung).resourceVersion).toBe('1')
    expect(returns).toHaveLength(1)
  })

  it('that is stopped throws the reason, and its connection ends', async () => {
    const gone: boolean[] = []
    const server = await serve((_, response) => {
      response.on('close', () => gone.push(true))
      response.write(ADDED)
    })
    const { events, stopping } = watching(server)
    expect((await events.next()).value).toMatchObject({ type: 'ADDED' })
    const thrown = events.next().catch((error: unknown) => error)
    const reason = new Error('enough')
    stopping.abort(reason)
    expect(await thrown).toBe(reason)
    await eventually(() => {
      expect(gone).toEqual([true])
    })
  })

  it('that is not read on ends its connection', async () => {
    const gone: boolean[] = []
    const server = await serve((_, response) => {
      response.on('close', () => gone.push(true))
      response.write(ADDED)
    })
    for await (const event of watching(server).events) {
      expect(event.type).toBe('ADDED')
      break
    }
    await eventually(() => {
      expect(gone).toEqual([true])
    })
  })
})
