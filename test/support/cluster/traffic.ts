// Sends steady traffic of every kind to the address of gateways until it is stopped. It repeats nothing: what has no
// right response is a failure, but for streams that end in order, whose clients come back at once.

import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request as undiciRequest } from 'undici'
import { WebSocket } from 'ws'
import { request } from '../http-request.ts'
import { type Entry, type Kind, TrafficBook, WrongResponse } from './traffic-book.ts'

export interface TrafficOptions {
  /** Of the Service. */
  readonly url: string
  readonly host: string
  /** Documents `/doc-0` to … , whose `/x` answers with their name. */
  readonly documents: number
  /** Whether there is `socketDocument` too. */
  readonly hasForwardedSockets?: boolean
}

export interface Traffic extends AsyncDisposable {
  readonly book: TrafficBook
  /** Lets what is under way come to its end. */
  readonly stop: () => Promise<void>
}

/** Some 200 requests a second in all, where none waits: what two busy cores can bear. */
export const USERS = {
  fresh: { count: 8, everyMs: 100 },
  kept: { count: 12, everyMs: 120 },
  long: { count: 4, everyMs: 50 },
  published: { count: 2, everyMs: 200 },
  forwardedEvents: { count: 4, everyMs: 0 },
  topicEvents: { count: 4, everyMs: 0 },
  sockets: { count: 4, everyMs: 500 },
  forwardedSockets: { count: 4, everyMs: 500 },
} as const satisfies Record<Kind, { readonly count: number; readonly everyMs: number }>

/** A response that takes longer is a failure: on a machine as busy as one that builds. */
const PATIENCE_MS = 30_000
const LONG_MS = 3000
/** RFC 6455 §7.4.1. */
const GOING_AWAY = 1001

/**
 * What it asks for is in `trafficDocument`, and in the documents of the options.
 *
 * @example
 * await using traffic = startTraffic({ url, host: 'shop.test', documents: 200 })
 * traffic.book.take().failures
 */
export const startTraffic = (options: TrafficOptions): Traffic => {
  const book = new TrafficBook()
  const stopping = new AbortController()
  const tools = { ...options, book, stopping: stopping.signal }
  const users = [
    ...times(USERS.fresh.count, (user) => askFresh(tools, user)),
    ...times(USERS.kept.count, (user) => askKept(tools, 'kept', echoOf(user))),
    ...times(USERS.long.count, () => askKept(tools, 'long', () => `/slow/${LONG_MS}`)),
    ...times(USERS.published.count, () => publish(tools)),
    ...times(USERS.forwardedEvents.count, () =>
      followEvents(tools, 'forwardedEvents', '/traffic/events'),
    ),
    ...times(USERS.topicEvents.count, () => followEvents(tools, 'topicEvents', '/traffic/topic')),
    ...times(USERS.sockets.count, () => holdSocket(tools, 'sockets')),
    ...times(options.hasForwardedSockets === true ? USERS.forwardedSockets.count : 0, () =>
      holdSocket(tools, 'forwardedSockets'),
    ),
  ]
  const stop = async (): Promise<void> => {
    stopping.abort()
    await Promise.all(users)
  }
  return { book, stop, [Symbol.asyncDispose]: stop }
}

/** What the traffic asks for: `echo` is the origin of the application, the realm has a router. */
export const trafficDocument = (id: string, host: string, realm: string, echo: string): object => ({
  id,
  host,
  realm_uri: realm,
  versions: {
    v1: {
      base_path: '/traffic',
      paths: {
        '/echo/:n': { get: forwards(echo, '/echo/{{request.bindings.n}}') },
        '/slow/:n': { get: forwards(echo, '/slow/{{request.bindings.n}}') },
        '/events': { get: forwards(echo, '/events/200') },
        '/topic': {
          get: {
            action: { type: 'wamp_subscribe', topic: TOPIC },
            response: { on_result: { body: '{{action.result.kwargs}}' } },
          },
          post: {
            action: {
              type: 'wamp_publish',
              topic: TOPIC,
              kwargs: { from: 'traffic' },
              // To streams of the same gateway, and so of the same session, too.
              options: { exclude_me: false },
            },
            response: {
              on_result: {
                status_code: 202,
                body: { publication_id: '{{action.result.publication_id}}' },
              },
            },
          },
        },
      },
    },
  },
})

/** Its own, as older versions and applications that end at once carry no WebSockets. */
export const socketDocument = (id: string, host: string, realm: string, echo: string): object => ({
  id,
  host,
  realm_uri: realm,
  versions: {
    v1: {
      base_path: '/sockets',
      paths: {
        '/echo': { get: { action: { type: 'forward', host: echo, upgrade: ['websocket'] } } },
      },
    },
  },
})

const TOPIC = 'com.shop.traffic'

const forwards = (host: string, path: string): object => ({
  action: { type: 'forward', http_method: 'get', host, path },
  response: {},
})

interface Tools extends TrafficOptions {
  readonly book: TrafficBook
  readonly stopping: AbortSignal
}

const times = <T>(count: number, make: (index: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, index) => make(index))

/** Until it is told to stop: one after the other, with a pause. */
const askAgain = async (
  { book, stopping }: Tools,
  kind: Kind,
  ask: (entry: Entry) => Promise<void>,
): Promise<void> => {
  while (!stopping.aborted) {
    const entry = book.begin(kind)
    try {
      await ask(entry)
      book.answered(entry)
    } catch (error) {
      book.failed(entry, error)
    }
    book.close(entry)
    await pause(USERS[kind].everyMs, stopping)
  }
}

/** Not in step with each other. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms * (0.5 + Math.random()), undefined, { signal }).catch(() => undefined)

const askFresh = async (tools: Tools, user: number): Promise<void> => {
  let next = user
  await askAgain(tools, 'fresh', async () => {
    next = (next + USERS.fresh.count) % tools.documents
    const name = `doc-${next}`
    const headers = { host: tools.host }
    const response = await request(`${tools.url}/${name}/x`, { headers, timeoutMs: PATIENCE_MS })
    expectResponse(name, response, { status: 200, text: JSON.stringify(name) })
  })
}

const echoOf = (user: number): (() => string) => {
  let asked = 0
  return () => `/echo/${user}-${(asked += 1)}`
}

const askKept = async (tools: Tools, kind: 'kept' | 'long', path: () => string): Promise<void> => {
  await using agent = new OneConnection(tools)
  await askAgain(tools, kind, async (entry) => {
    agent.carry(entry)
    const asked = path()
    const response = await agent.ask('GET', `/traffic${asked}`)
    expectResponse(asked, response, { status: 200, text: `"url":"${asked}"` })
    agent.pod = podIn(response.text)
  })
}

const publish = async (tools: Tools): Promise<void> => {
  await using agent = new OneConnection(tools)
  await askAgain(tools, 'published', async () => {
    const response = await agent.ask('POST', '/traffic/topic')
    expectResponse('POST /topic', response, { status: 202, text: 'publication_id' })
  })
}

interface ReceivedResponse {
  readonly status: number
  readonly text: string
}

/** @throws WrongAnswer for another status, or a text without that part */
const expectResponse = (
  what: string,
  { status, text }: ReceivedResponse,
  wanted: ReceivedResponse,
): void => {
  if (status !== wanted.status || !text.includes(wanted.text))
    throw new WrongResponse(`${what}: ${status} ${text.slice(0, 300)}`)
}

/** The gateway's, as the application has seen it. */
const podIn = (text: string): string | undefined => /"from":"([\d.]+)"/.exec(text)?.[1]

/** Of a client that keeps it as long as it may, as undici's Agent does. */
class OneConnection implements AsyncDisposable {
  /** Of the gateway it leads to; undefined until that has answered. */
  pod: string | undefined
  #entry: Entry | undefined
  readonly #tools: Tools
  readonly #agent = new Agent({ connections: 1, pipelining: 1 })

  constructor(tools: Tools) {
    this.#tools = tools
    this.#agent.on('connect', () => {
      this.pod = undefined
      // It was to go to the one before, which has ended the connection.
      if (this.#entry !== undefined) this.#entry.pod = undefined
    })
  }

  /** The next request is that one's. */
  carry(entry: Entry): void {
    entry.pod = this.pod
    this.#entry = entry
  }

  async ask(method: 'GET' | 'POST', path: string): Promise<ReceivedResponse> {
    const { statusCode, body } = await this.open(method, path)
    return { status: statusCode, text: await body.text() }
  }

  open(method: 'GET' | 'POST', path: string, more: { readonly signal?: AbortSignal } = {}) {
    const { url, host } = this.#tools
    return undiciRequest(`${url}${path}`, {
      method,
      headers: { host },
      dispatcher: this.#agent,
      headersTimeout: PATIENCE_MS,
      bodyTimeout: PATIENCE_MS,
      ...more,
    })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#agent.destroy()
  }
}

type SocketKind = 'sockets' | 'forwardedSockets'
type StreamKind = 'forwardedEvents' | 'topicEvents' | SocketKind

/** Streams never fall silent: then they fail. One that ends in order is opened again at once. */
const holdStream = async (
  { book, stopping }: Tools,
  kind: StreamKind,
  hold: (entry: Entry, onResponse: () => void) => Promise<void>,
): Promise<void> => {
  let isResumed = false
  const isStopped = (): boolean => stopping.aborted
  while (!isStopped()) {
    const entry = book.begin(kind)
    try {
      await hold(entry, () => {
        book.answered(entry, isResumed)
        isResumed = false
      })
      if (!isStopped()) book.endedInOrder(entry)
      isResumed = true
    } catch (error) {
      if (!isStopped()) book.failed(entry, error)
      isResumed = false
      await pause(100, stopping)
    }
    book.close(entry)
  }
}

const followEvents = async (
  tools: Tools,
  kind: 'forwardedEvents' | 'topicEvents',
  path: string,
): Promise<void> => {
  await using agent = new OneConnection(tools)
  await holdStream(tools, kind, async (entry, onResponse) => {
    const { statusCode, body } = await agent.open('GET', path, { signal: tools.stopping })
    if (statusCode !== 200) throw new WrongResponse(`${path}: ${statusCode} ${await body.text()}`)
    let head: string | undefined = ''
    for await (const chunk of body) {
      if (head === undefined) continue
      head += String(chunk)
      if (!/^data: .*\n\n/m.test(head)) continue
      entry.pod = podIn(head)
      onResponse()
      head = undefined
    }
  })
}

const HELLO = [1, 'com.shop', { roles: { caller: {} } }]
const WELCOME = 2
const ERROR = 8
const CALL = 48

interface Talk {
  readonly path: string
  readonly protocols: readonly string[]
  /** @param id 0 for the first one */
  readonly messageOf: (id: number) => string
  readonly isReply: (text: string, message: string) => boolean
}

const TALKS: Readonly<Record<SocketKind, Talk>> = {
  /** Joins the realm, then calls what is not there: the router answers each. */
  sockets: {
    path: '/traffic/ws',
    protocols: ['wamp.2.json'],
    messageOf: (id) => JSON.stringify(id === 0 ? HELLO : [CALL, id, {}, 'com.shop.nobody']),
    isReply: (text) => {
      const [type] = JSON.parse(text) as readonly number[]
      return type === WELCOME || type === ERROR
    },
  },
  forwardedSockets: {
    path: '/sockets/echo',
    protocols: [],
    messageOf: (id) => `message ${id}`,
    isReply: (text, message) => text === message,
  },
}

const holdSocket = (tools: Tools, kind: SocketKind): Promise<void> =>
  holdStream(tools, kind, async (_, onResponse) => {
    const { book, host, stopping } = tools
    const { path, protocols } = TALKS[kind]
    const url = `${tools.url.replace('http:', 'ws:')}${path}`
    const socket = new WebSocket(url, [...protocols], {
      headers: { host },
      handshakeTimeout: PATIENCE_MS,
    })
    const end = (): void => {
      socket.terminate()
    }
    stopping.addEventListener('abort', end)
    const pulse = new Pulse(socket, kind, { book, onResponse })
    try {
      const code = await new Promise<number>((resolve, reject) => {
        socket.once('open', () => {
          pulse.begin()
        })
        socket.on('message', (data: Buffer) => {
          pulse.received(data.toString())
        })
        socket.once('error', reject)
        socket.once('close', resolve)
      })
      if (code !== GOING_AWAY) throw new WrongResponse(`a socket was closed with ${code}`)
    } finally {
      stopping.removeEventListener('abort', end)
      pulse.stop()
    }
  })

/** Messages of one socket, each after the response to the one before; without a response in time the socket is cut. */
class Pulse {
  readonly #socket: WebSocket
  readonly #kind: SocketKind
  readonly #book: TrafficBook
  readonly #onResponse: () => void
  #entry: Entry | undefined
  #next: NodeJS.Timeout | undefined
  #tooLate: NodeJS.Timeout | undefined
  #message = ''
  #id = 0

  constructor(
    socket: WebSocket,
    kind: SocketKind,
    options: { readonly book: TrafficBook; readonly onResponse: () => void },
  ) {
    this.#socket = socket
    this.#kind = kind
    this.#book = options.book
    this.#onResponse = options.onResponse
  }

  /** The entry of the socket itself stands for the first message. */
  begin(): void {
    this.#send()
  }

  received(text: string): void {
    if (!TALKS[this.#kind].isReply(text, this.#message)) return
    if (this.#entry === undefined) this.#onResponse()
    else this.#book.answered(this.#entry)
    this.stop()
    this.#next = setTimeout(() => {
      if (this.#socket.readyState !== WebSocket.OPEN) return
      this.#entry = this.#book.begin(this.#kind)
      this.#send()
    }, USERS[this.#kind].everyMs)
  }

  stop(): void {
    clearTimeout(this.#next)
    clearTimeout(this.#tooLate)
    if (this.#entry !== undefined) this.#book.close(this.#entry)
    this.#entry = undefined
  }

  #send(): void {
    this.#message = TALKS[this.#kind].messageOf(this.#id)
    this.#id += 1
    this.#socket.send(this.#message)
    this.#tooLate = setTimeout(() => {
      this.#socket.terminate()
    }, PATIENCE_MS)
  }
}
