// Connects to the first WebSocket URL of a realm's router that accepts the handshake of a client. It reads no frames.

import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { CodedError } from '../../../base/coded-error.ts'
import { messageOf } from '../../../base/thrown.ts'
import {
  handshakeText,
  readHandshakeResponse,
  type RelayedProtocol,
  type RelayHandshake,
} from './handshake.ts'
import type { RouterDial } from '../transport/router-dial.ts'
import { describeRouterUrl, endpointOf } from '../transport/router-url.ts'

export interface RouterConnection {
  /** Paused; its errors are ignored until its end is listened to. */
  readonly socket: Socket
  /** Frames that followed the response. */
  readonly head: Buffer
  /** For the client: `Sec-WebSocket-Accept`, `Sec-WebSocket-Protocol`. */
  readonly accept: string
  readonly protocol: RelayedProtocol
  /** The URL that it is connected to. */
  readonly url: string
}

export interface ConnectOptions {
  readonly dial: RouterDial
  /** Per URL: up to the connection, and then up to the router's response. */
  readonly connectTimeoutMs: number
  readonly responseTimeoutMs: number
  /** After that no further URL is tried. */
  readonly totalMs: number
  readonly now: () => number
}

/** No URL accepted the connection. The reasons name routers: they are for the log, never for a client. */
export class RouterConnectError extends CodedError<'unavailable'> {
  readonly reasons: readonly string[]

  constructor(reasons: readonly string[]) {
    super('unavailable', 'no router takes the connection')
    this.reasons = reasons
  }
}

/** @throws RouterConnectError, also when `signal` has been aborted */
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
    const result = await tryUrl(url, handshake, options, signal)
    if (typeof result !== 'string') return result
    reasons.push(`${describeRouterUrl(url)}: ${result}`)
  }
  throw new RouterConnectError(reasons)
}

/** @returns a text that says why not, if it fails */
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

    function settle(result: RouterConnection | string): void {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      socket.removeListener('data', onData)
      socket.removeListener('end', onEnd).removeListener('close', onEnd)
      resolve(result)
    }
    function fail(why: string): void {
      settle(why)
      socket.destroy()
    }
    function onAbort(): void {
      fail('it is not waited for any more')
    }
    function onEnd(): void {
      fail('it hung up')
    }
    function onData(chunk: Buffer): void {
      bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk])
      const response = readHandshakeResponse(bytes, handshake)
      if (response.kind === 'refused') fail(response.why)
      if (response.kind !== 'accepted') return
      const { accept, protocol, headBytes } = response
      socket.pause()
      settle({ socket, head: bytes.subarray(headBytes), accept, protocol, url })
    }

    signal.addEventListener('abort', onAbort)
    socket.on('data', onData).once('end', onEnd).once('close', onEnd)
    socket.once(isSecure ? 'secureConnect' : 'connect', () => {
      clearTimeout(timer)
      timer = setTimeout(fail, options.responseTimeoutMs, 'no response in time')
      socket.write(handshakeText(target, handshake))
    })
    // Stays: an error on a socket without a listener would crash the process.
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // The messages of our own errors say more than their codes: that a name may not be dialled.
      settle(error instanceof CodedError ? error.message : (error.code ?? error.message))
    })
  })

/** @throws Error where it may not be dialled */
const open = (url: URL, { lookupFor, secureContext }: RouterDial): Socket => {
  const isSecure = url.protocol === 'wss:'
  const { host, port } = endpointOf(url)
  const lookup = lookupFor(host, port)
  // A router that ends its half still reads what the client has sent, the response to its Close frame above all.
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
