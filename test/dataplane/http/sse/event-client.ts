// A client of event streams on a bare socket: what it was sent, chunks undone, as it stands at any moment.
// One that does not read leaves everything in the kernel's buffers.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export interface EventClientOptions {
  readonly method?: string
  readonly path?: string
  readonly version?: '1.0' | '1.1'
  readonly headers?: Readonly<Record<string, string>>
  readonly reads?: boolean
}

export interface Received {
  readonly status: number
  /** Names lower case; a repeated one is joined by `, `. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The last chunk, or the end of the connection where there are no chunks, has come. */
  readonly isWhole: boolean
}

export class EventClient implements AsyncDisposable {
  readonly socket: Socket
  /** The other side has closed or cut the connection. */
  isClosed = false
  #raw = ''

  constructor(socket: Socket, reads: boolean) {
    this.socket = socket
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.isClosed = true
    })
    if (reads) this.read()
  }

  read(): void {
    this.socket.on('data', (bytes: Buffer) => {
      this.#raw += bytes.toString('latin1')
    })
  }

  /** undefined: the head has not come yet. */
  get received(): Received | undefined {
    const end = this.#raw.indexOf('\r\n\r\n')
    if (end < 0) return undefined
    const [start = '', ...lines] = this.#raw.slice(0, end).split('\r\n')
    const headers: Record<string, string> = {}
    for (const line of lines) {
      const colon = line.indexOf(':')
      const name = line.slice(0, colon).toLowerCase()
      const value = line.slice(colon + 1).trim()
      headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`
    }
    const rest = this.#raw.slice(end + 4)
    const status = Number(start.split(' ')[1])
    const isChunked = headers['transfer-encoding'] === 'chunked'
    const { body, isWhole } = isChunked ? unchunk(rest) : { body: rest, isWhole: this.isClosed }
    return { status, headers, body: Buffer.from(body, 'latin1').toString(), isWhole }
  }

  get body(): string {
    return this.received?.body ?? ''
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.destroy()
    if (!this.isClosed) await once(this.socket, 'close')
  }
}

const unchunk = (text: string): { body: string; isWhole: boolean } => {
  let body = ''
  let at = 0
  for (;;) {
    const line = text.indexOf('\r\n', at)
    const size = parseInt(text.slice(at, line), 16)
    if (line < 0 || text.length < line + 2 + size + 2) return { body, isWhole: false }
    if (Number.isNaN(size)) throw new Error(`no chunk: ${text.slice(at, at + 40)}`)
    if (size === 0) return { body, isWhole: true }
    body += text.slice(line + 2, line + 2 + size)
    if (text.slice(line + 2 + size, line + 4 + size) !== '\r\n')
      throw new Error('a chunk is longer')
    at = line + 4 + size
  }
}

/** @example await using client = await openEventClient(gateway.address, { path: '/feed/1' }) */
export const openEventClient = async (
  address: { readonly host: string; readonly port: number },
  options: EventClientOptions = {},
): Promise<EventClient> => {
  const { method = 'GET', path = '/feed/1', version = '1.1', headers = {}, reads = true } = options
  const socket = connect({ ...address, noDelay: true })
  await once(socket, 'connect')
  const lines = Object.entries({ host: 'a.test', ...headers }).map(([n, v]) => `${n}: ${v}\r\n`)
  socket.write(`${method} ${path} HTTP/${version}\r\n${lines.join('')}\r\n`)
  return new EventClient(socket, reads)
}
