// Answers the requests of one sequence as that says, over plain sockets and TLS, and writes down what it saw of each
// request and in which state each connection was.

import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, TLSSocket } from 'node:tls'
import type { Certificate } from '../../support/certificates.ts'
import { contentOf } from './content.ts'
import type { RequestPlan } from './plan.ts'
import { RequestReader } from './request-reader.ts'
import { after } from './waits.ts'

/** What the upstream has done with a connection that makes a request on it fail. */
interface Hazard {
  /** The client has had time to see it since this turn. */
  seenAt: number | undefined
}

/** What became of a request at the upstream. */
export interface Served {
  /** No other request was on its connection before. */
  readonly isFirst: boolean
  /** Of its connection, when its head came. */
  readonly hazard: Hazard | undefined
  /** Bytes of the body, which are those that were sent. */
  bodyBytes: number
  isBodyWhole: boolean
  /** All of the response was passed to the socket. */
  isAnswered: boolean
}

/** Within so many turns of the event loop the client sees what was sent on loopback, over TLS too. */
const SEEN_TURNS = 20

export class ScriptedUpstream {
  readonly #servers: readonly Server[]
  readonly #sockets = new Set<Socket>()
  readonly #raw = new Map<number | undefined, Socket>()
  #turn = 1
  #prefix = ''
  #plans: ReadonlyMap<string, RequestPlan> = new Map()
  #served = new Map<number, Served>()
  #hazards: Hazard[] = []
  #faults: string[] = []

  constructor(certificate: Certificate) {
    const serve = (socket: Socket): void => {
      this.#serve(socket)
    }
    const options = { allowHalfOpen: true, noDelay: true }
    const secured = createTlsServer({ ...certificate, ...options }, serve)
    secured.on('connection', (socket: Socket) => {
      const { remotePort } = socket
      this.#raw.set(remotePort, socket)
      socket.on('close', () => this.#raw.delete(remotePort)).on('error', () => undefined)
    })
    this.#servers = [createServer(options, serve), secured]
  }

  async listen(): Promise<void> {
    for (const server of this.#servers)
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  }

  origin(isSecure: boolean): string {
    const { port } = this.#servers[isSecure ? 1 : 0]?.address() as AddressInfo
    return `${isSecure ? 'https' : 'http'}://127.0.0.1:${port}`
  }

  async close(): Promise<void> {
    this.closeConnections()
    for (const server of this.#servers) await new Promise((resolve) => server.close(resolve))
  }

  /** @returns the path of each request */
  begin(prefix: string, requests: readonly RequestPlan[]): (number: number) => string {
    this.#prefix = prefix
    this.#plans = new Map(requests.map((each) => [`/${prefix}/${each.number}`, each]))
    this.#served = new Map()
    this.#hazards = []
    this.#faults = []
    return (number) => `/${prefix}/${number}`
  }

  servedOf(number: number): Served | undefined {
    return this.#served.get(number)
  }

  /** What the client did that it must not do. */
  get faults(): readonly string[] {
    return this.#faults
  }

  /** For `mayHaveMet`. */
  get turn(): number {
    return this.#turn
  }

  /** Whether a request that was sent in this turn, or later, may have met a connection that was being closed. */
  mayHaveMet(turn: number): boolean {
    return this.#hazards.some(({ seenAt }) => seenAt === undefined || seenAt >= turn)
  }

  get open(): number {
    // Node emits no `close` where a reset fails.
    for (const socket of this.#sockets) if (socket.closed) this.#sockets.delete(socket)
    return this.#sockets.size
  }

  closeConnections(): void {
    for (const socket of [...this.#raw.values(), ...this.#sockets]) socket.destroy()
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket)
    const raw = this.#raw.get(socket.remotePort) ?? socket
    const connection: ServedConnection = new ServedConnection(socket, {
      planOf: (path) => this.#begun(path, connection),
      reset: () => {
        // The one below may be gone already.
        if (raw instanceof TLSSocket || raw.destroyed) socket.destroy()
        else raw.resetAndDestroy()
      },
      onFault: (fault) => {
        this.#faults.push(fault)
        socket.destroy()
      },
      onHazard: () => {
        const hazard = (connection.hazard ??= this.#newHazard())
        return () => {
          after({ turns: SEEN_TURNS, ms: 0 }, () => {
            hazard.seenAt = ++this.#turn
          })
        }
      },
    })
    socket
      .on('error', () => undefined)
      .on('close', () => this.#sockets.delete(socket))
      .on('end', () => socket.destroy())
      .on('data', (bytes) => {
        connection.onData(bytes)
      })
  }

  #begun(path: string, { isFirst, isLast, hazard }: ServedConnection): Begun {
    const plan = this.#plans.get(path)
    if (plan === undefined) throw new Error(`a request for ${path} in sequence ${this.#prefix}`)
    const { number } = plan
    if (this.#served.has(number)) throw new Error(`request ${number} was sent twice`)
    if (isLast) throw new Error(`request ${number} came on a connection that cannot be used again`)
    const served = { isFirst, hazard, bodyBytes: 0, isBodyWhole: false, isAnswered: false }
    this.#served.set(number, served)
    return { plan, served }
  }

  #newHazard(): Hazard {
    const hazard: Hazard = { seenAt: undefined }
    this.#hazards.push(hazard)
    return hazard
  }
}

interface Begun {
  readonly plan: RequestPlan
  readonly served: Served
}

interface ConnectionOwner {
  planOf(path: string): Begun
  reset(): void
  onFault(fault: string): void
  /** @returns to be called once the client can see it */
  onHazard(): () => void
}

class ServedConnection {
  isFirst = true
  /** No other request may come. */
  isLast = false
  hazard: Hazard | undefined
  readonly #socket: Socket
  readonly #owner: ConnectionOwner
  readonly #reader: RequestReader
  #current: Begun | undefined
  #isAnswering = false

  constructor(socket: Socket, owner: ConnectionOwner) {
    this.#socket = socket
    this.#owner = owner
    this.#reader = new RequestReader({
      onHead: (path) => {
        this.#onHead(path)
      },
      onBody: (bytes) => {
        this.#onBody(bytes)
      },
      onEnd: () => {
        this.#onEnd()
      },
    })
  }

  onData(bytes: Buffer): void {
    try {
      this.#reader.feed(bytes)
    } catch (error) {
      this.#owner.onFault((error as Error).message)
    }
  }

  #onHead(path: string): void {
    this.#current = this.#owner.planOf(path)
    this.isFirst = false
    this.#isAnswering = false
    const { answersAt, readsBody } = this.#current.plan
    if (!readsBody) this.#socket.pause()
    if (answersAt === 'head') this.#answer(this.#current)
  }

  #onBody(bytes: Buffer): void {
    if (this.#current === undefined) return
    const { plan, served } = this.#current
    const sent = contentOf(-plan.number, Infinity)
    const from = served.bodyBytes
    served.bodyBytes += bytes.length
    if (!sent.subarray(from, served.bodyBytes).equals(bytes))
      throw new Error(`the body of request ${plan.number} is another one at ${from}`)
    if (plan.answersAt === 'body') this.#answer(this.#current)
  }

  #onEnd(): void {
    if (this.#current === undefined) return
    this.#current.served.isBodyWhole = true
    this.#answer(this.#current)
  }

  #answer({ plan, served }: Begun): void {
    if (this.#isAnswering) return
    this.#isAnswering = true
    const { response } = plan
    const pieces = [...response.pieces]
    const writeNext = (): void => {
      const piece = pieces.shift()
      if (this.#socket.destroyed) return
      if (piece !== undefined) {
        if (pieces.length === 0) {
          served.isAnswered = !response.endsWithConnection
          this.isLast ||= response.isLast
        }
        this.#socket.write(piece)
        after(response.wait, writeNext)
        return
      }
      if (!plan.readsBody) this.#socket.resume()
      after(response.thenAfter, () => {
        // What it would do now would be done to the response to another request.
        if (this.#current?.plan === plan) this.#finish({ plan, served })
      })
    }
    writeNext()
  }

  #finish({ plan: { response }, served }: Begun): void {
    if (this.#socket.destroyed || response.then === 'nothing') return
    const onSent = this.#owner.onHazard()
    served.isAnswered = true
    if (response.then === 'end') this.#socket.end(onSent)
    else if (response.then === 'garbage') this.#socket.write('\0 noise \r\n', onSent)
    else {
      this.#owner.reset()
      onSent()
    }
  }
}
