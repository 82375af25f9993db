// Connects to the first WebSocket URL of a realm's router that accepts the handshake of a client. It reads no frames.

import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { CodedError } from '../../../base/coded-error.ts'
import { messageOf } from '../../../base/thrown.ts'
import { handshakeText, type RelayHandshake, readHandshakeAnswer } from './handshake.ts'
import type { RouterDial } from '../transport/router-dial.ts'
import { describeRouterUrl, endpointOf } from '../transport/router-url.ts'

export interface RouterConnection {
  /** Paused; it swallows errors until somebody listens to its end. */
  readonly socket: Socket
  /** Frames that came behind the answer. */
  readonly head: Buffer
  /** For the client: `Sec-WebSocket-Accept`, `Sec-WebSocket-Protocol`. */
  readonly accept: string
  readonly protocol: string
  /** The one of the URLs that it is connected to. */
  readonly url: string
}

export interface ConnectOptions {
  readonly dial: RouterDial
  /** Per URL: up to the connection, and then up to the router's answer. */
  readonly connectTimeoutMs: number
  readonly answerTimeoutMs: number
  /** After that no further URL is tried. */
  readonly totalMs: number
  readonly now: () => number
}

/** No URL would take it. The reasons name routers: for the log, never for a client. */
export class RouterAway extends Error {
  readonly reasons: readonly string[]

  constructor(reasons: readonly string[]) {
    super('no router takes the connection')
    this.name = 'RouterAway'
    this.reasons = reasons
  }
}

/** @throws RouterAway, also when `signal` says that nobody waits any more */
export const connectRouter = async (
  urls: readonly string[],
  handshake: RelayHandshake,
  options: ConnectOptions,
  signal: AbortSignal,
): Promise<RouterConnection> => {
  const reasons: string[] = []
  const startedMs = options.now()
  for (const url of urls) {
    if (signal.aborted || options.now() - startedMs > options.totalMs) break
    const outcome = await tryUrl(url, handshake, options, signal)
    if (typeof outcome !== 'string') return outcome
    reasons.push(`${describeRouterUrl(url)}: ${outcome}`)
  }
  throw new RouterAway(reasons)
}

/** A text says why not. */
const tryUrl = (
  url: string,
  handshake: RelayHandshake,
  options: ConnectOptions,
  signal: AbortSignal,
): Promise<RouterConnection | string> =>
  new Promise((resolve) => {
    const target = new URL(url)
    const isSecure = target.protocol === 'wss:'
    let socket: Socket
    try {
      socket = open(target, options.dial)
    } catch (error) {
      resolve(messageOf(error))
      return
    }
    let bytes: Buffer = Buffer.alloc(0)
    let timer = setTimeout(fail, options.connectTimeoutMs, 'no connection in time')

    function settle(outcome: RouterConnection | string): void {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      socket.removeListener('data', onData)
      socket.removeListener('end', onEnd).removeListener('close', onEnd)
      resolve(outcome)
    }
    function fail(why: string): void {
      settle(why)
      socket.destroy()
    }
    function onAbort(): void {
      fail('nobody waits for it any more')
    }
    function onEnd(): void {
      fail('it hung up')
    }
    function onData(chunk: Buffer): void {
      bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk])
      const answer = readHandshakeAnswer(bytes, handshake)
      if (answer.kind === 'refused') fail(answer.why)
      if (answer.kind !== 'accepted') return
      const { accept, protocol, headBytes } = answer
      socket.pause()
      settle({ socket, head: bytes.subarray(headBytes), accept, protocol, url })
    }

    signal.addEventListener('abort', onAbort)
    socket.on('data', onData).once('end', onEnd).once('close', onEnd)
    socket.once(isSecure ? 'secureConnect' : 'connect', () => {
      clearTimeout(timer)
      timer = setTimeout(fail, options.answerTimeoutMs, 'no answer in time')
      socket.write(handshakeText(target, handshake))
    })
    // Stays: a socket without an error listener would take the process down.
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // Ours say more in words: that a name may not be dialled.
      settle(error instanceof CodedError ? error.message : (error.code ?? error.message))
    })
  })

/** @throws Error where it may not be dialled */
const open = (url: URL, { lookupFor, secureContext }: RouterDial): Socket => {
  const isSecure = url.protocol === 'wss:'
  const { host, port } = endpointOf(url)
  const lookup = lookupFor(host, port)
  // A router that ends its half still takes what the client has sent, the answer to its Close frame above all.
  const to = { host, port, lookup, allowHalfOpen: true }
  const socket = isSecure
    ? connectTls({
        ...to,
        secureContext: secureContext(),
        ALPNProtocols: ['http/1.1'],
        // RFC 6066 §3: literals are no server names.
        ...(isIP(host) === 0 && { servername: host }),
      })
    : connectTcp(to)
  return socket.setNoDelay(true).setKeepAlive(true, 60_000)
}
