// Admits the connections of servers: it counts them by where they come from, closes those beyond the bounds, and
// gives connections of balancers that send PROXY protocol headers the address of the client.

import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { type AddressList, createAddressList } from '../address-list.ts'
import { createDeadlines } from '../deadlines.ts'
import { responseOn, socketUnder } from './node-internals.ts'
import { plainAddress } from '../plain-address.ts'
import { placeOf } from '../security/passwords/login-throttle.ts'
import { ConnectionTable, type Place } from './connection-table.ts'
import { inheritPeer, overridePeer } from './peer-address.ts'
import { type ProxyHeaderResult, readProxyHeader } from './read-proxy-header.ts'

/** Why a connection was closed: `made_room` was idle and closed for another one, the others were not accepted. */
export type ConnectionRefusal = 'full' | 'share' | 'made_room' | 'proxy_header'

export interface ConnectionGateOptions {
  /** The most connections open at once, of all servers together. */
  readonly max: number
  /** CIDRs of proxies: their own addresses may have any share of the connections. */
  readonly trustedProxies: readonly string[]
  /** CIDRs of balancers: their connections must begin with a PROXY header, and no others do. */
  readonly proxyProtocol: readonly string[]
  /** The most time for the PROXY header. */
  readonly headerTimeoutMs: number
  readonly onRefused: (reason: ConnectionRefusal) => void
  /** A connection of a balancer whose header was malformed, late or not there. */
  readonly onBadHeader: (balancer: string, message: string) => void
}

export interface ConnectionGate {
  /** More than half of the connections are open. */
  readonly isHalfFull: boolean
  /** Call it once for each server, after everything else that listens to its connections. */
  guard(server: Server, event: 'connection' | 'secureConnection'): void
}

interface Connection {
  readonly raw: Socket
  /** The socket that carries HTTP: TLS on top of `raw`, or `raw` itself. */
  http: Socket
  place: Place
  /** It waits until another connection has been closed for it. */
  isEntering: boolean
}

/** @example createPlainServer({ ...limits, gate: createConnectionGate(options) }, handlers) */
export const createConnectionGate = (options: ConnectionGateOptions): ConnectionGate => {
  const gate = new Gate(options)
  return {
    get isHalfFull() {
      return gate.isHalfFull
    },
    guard: (server, event) => {
      gate.guard(server, event)
    },
  }
}

/** How often late PROXY headers are looked for. */
const TICK_MS = 100

class Gate {
  readonly #options: ConnectionGateOptions
  readonly #table: ConnectionTable<Connection>
  readonly #connections = new WeakMap<Socket, Connection>()
  readonly #upgraded = new WeakSet<Socket>()
  readonly #trusted: AddressList
  readonly #balancers: AddressList | undefined
  readonly #deadlines = createDeadlines(TICK_MS)

  constructor(options: ConnectionGateOptions) {
    const { max, trustedProxies, proxyProtocol } = options
    this.#options = options
    this.#trusted = createAddressList([...trustedProxies, ...proxyProtocol])
    if (proxyProtocol.length > 0) this.#balancers = createAddressList(proxyProtocol)
    this.#table = new ConnectionTable({ max, isIdle: (connection) => this.#isIdle(connection) })
  }

  get isHalfFull(): boolean {
    return this.#table.size > this.#options.max / 2
  }

  guard(server: Server, event: 'connection' | 'secureConnection'): void {
    const listeners = server.rawListeners('connection')
    server.removeAllListeners('connection')
    server.on('connection', (raw: Socket) => {
      this.#admit(raw, () => {
        for (const listener of listeners) Reflect.apply(listener, server, [raw])
      })
    })
    if (event === 'secureConnection') {
      server.prependListener('secureConnection', (secure: TLSSocket) => {
        this.#secured(secure)
      })
    }
    if (server.listenerCount('upgrade') > 0) {
      server.on('upgrade', ({ socket }: IncomingMessage) => this.#upgraded.add(socket))
    }
  }

  #admit(raw: Socket, pass: () => void): void {
    const peer = plainAddress(raw.remoteAddress ?? '')
    const place = this.#placeOf(peer)
    const connection: Connection = { raw, http: raw, place, isEntering: false }
    const entrance = this.#table.enter(connection, place)
    if (entrance.kind === 'refused') {
      this.#refuse(raw, entrance.reason)
      return
    }
    this.#connections.set(raw, connection)
    raw.once('close', () => {
      this.#table.leave(connection)
    })
    const proceed = (): void => {
      if (this.#balancers?.has(peer) === true) this.#awaitHeader(connection, pass)
      else pass()
    }
    if (entrance.closes === undefined) proceed()
    else this.#replace(entrance.closes, connection, proceed)
  }

  /**
   * Reads what has arrived before the idle connection is closed, or a request in the kernel's buffer would be lost:
   * Node runs immediates right after it has read.
   */
  #replace(idle: Connection, entering: Connection, proceed: () => void): void {
    const { raw } = entering
    entering.isEntering = true
    raw.on('error', ignoreError)
    setImmediate(() => {
      entering.isEntering = false
      raw.off('error', ignoreError)
      if (!idle.raw.destroyed) {
        if (!this.#isIdle(idle)) {
          this.#table.leave(entering)
          this.#table.add(idle, idle.place)
          this.#refuse(raw, 'full')
          return
        }
        this.#refuse(idle.raw, 'made_room')
      }
      if (!raw.destroyed) proceed()
    })
  }

  #awaitHeader(connection: Connection, pass: () => void): void {
    const { raw } = connection
    const timeoutMs = this.#options.headerTimeoutMs
    readProxyHeader(raw, { deadlines: this.#deadlines, timeoutMs }, (result) => {
      if (this.#accepts(connection, result)) pass()
    })
  }

  #accepts(connection: Connection, result: ProxyHeaderResult): boolean {
    const { raw } = connection
    if (result.kind === 'gone') raw.destroy()
    if (result.kind === 'fault') {
      this.#options.onBadHeader(plainAddress(raw.remoteAddress ?? ''), result.message)
      this.#refuse(raw, 'proxy_header')
    }
    if (result.kind !== 'header') return false
    const { source } = result
    overridePeer(raw, source)
    if (source === undefined) return true
    connection.place = this.#placeOf(source.address)
    if (this.#table.move(connection, connection.place)) return true
    this.#refuse(raw, 'share')
    return false
  }

  #secured(secure: TLSSocket): void {
    const raw = socketUnder(secure)
    const connection = raw && this.#connections.get(raw)
    // A connection that the gate has not admitted is not in the table.
    if (connection === undefined) {
      secure.destroy()
      return
    }
    inheritPeer(secure, connection.raw)
    connection.http = secure
  }

  /** A Unix socket has no address: file permissions decide who may connect to it. */
  #placeOf(address: string): Place {
    return { key: placeOf(address), isLimited: address !== '' && !this.#trusted.has(address) }
  }

  #isIdle({ http, isEntering }: Connection): boolean {
    return !isEntering && !this.#upgraded.has(http) && isQuiet(http)
  }

  #refuse(raw: Socket, reason: ConnectionRefusal): void {
    this.#options.onRefused(reason)
    raw.destroy()
  }
}

/** `close` follows. */
const ignoreError = (): void => undefined

/**
 * No request of it is in progress, and no response of it waits to be sent. A request that has arrived in part is not
 * noticed.
 */
const isQuiet = (socket: Socket): boolean =>
  responseOn(socket) === undefined && socket.writableLength === 0
