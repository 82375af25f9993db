// Bytes and pauses go to a socket as they stand, parsed responses come back. What it sends is never
// checked or repaired, so that a test can send what no decent client would.

import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { BrokenError, ByteStream } from './byte-stream.ts'

export interface Pause {
  readonly pauseMs: number
}
export type Part = Uint8Array | Pause

export interface Address {
  readonly host: string
  readonly port: number
}

export interface RawResponse {
  readonly status: number
  /** As they came: names in their own case, repeated ones repeated. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Buffer
}

/** Every value of a header, whatever the case of its name. */
export const headerValues = (response: RawResponse, name: string): string[] =>
  response.headers.filter(([n]) => n.toLowerCase() === name.toLowerCase()).map(([, value]) => value)

export const addressOf = (url: string): Address => {
  const { hostname, port } = new URL(url)
  return { host: hostname, port: Number(port || 80) }
}

/**
 * One connection. Output goes out while responses are read, so an early response to a big body is seen.
 * `timeoutMs` bounds the whole conversation: then reading throws `HungError`.
 *
 * @example
 * await using client = await openRawClient(address, 15_000)
 * client.send([Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n')])
 * const { status } = await client.response()
 */
export const openRawClient = async (address: Address, timeoutMs: number): Promise<RawClient> => {
  const deadlineMs = performance.now() + timeoutMs
  const socket = connect({ ...address, noDelay: true })
  const client = new RawClient(socket, new ByteStream(socket, deadlineMs))
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve).once('error', (cause) => {
      reject(new BrokenError(`cannot connect to ${address.host}:${address.port}`, { cause }))
    })
  })
  return client
}

export class RawClient implements AsyncDisposable {
  readonly #socket: Socket
  readonly stream: ByteStream
  #writing: Promise<void> = Promise.resolve()
  #pending = 0
  #sentAt = 0

  constructor(socket: Socket, stream: ByteStream) {
    this.#socket = socket
    this.stream = stream
  }

  send(parts: readonly Part[]): void {
    this.#pending += 1
    this.#writing = this.#writing.then(async () => {
      for (const part of parts) await this.#sendPart(part)
      this.#pending -= 1
    })
  }

  /** Waits for more bytes; false at the end, or after `idleMs` of silence since the last byte either way. */
  more(idleMs?: number): Promise<boolean> {
    if (idleMs === undefined) return this.stream.more()
    const since = performance.now()
    // While output waits, silence has not begun; it is looked at again every 20 ms.
    return this.stream.more((now) =>
      this.#pending > 0 ? now + 20 : Math.max(since, this.#sentAt) + idleMs,
    )
  }

  /** The next final response (1xx are skipped). `headRequest`: there is no body whatever the headers say. */
  response(headRequest = false): Promise<RawResponse> {
    return readResponse(this.stream, headRequest)
  }

  close(): void {
    this.#socket.destroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close()
    await Promise.resolve()
  }

  async #sendPart(part: Part): Promise<void> {
    if ('pauseMs' in part) {
      // Who has closed it waits for no pause.
      await sleep(part.pauseMs, undefined, { ref: false })
    } else if (part.length > 0 && this.#socket.writable) {
      await new Promise<void>((resolve) => {
        // The callback comes with an error too: then the reader sees the end.
        this.#socket.write(part, () => {
          resolve()
        })
      })
      this.#sentAt = performance.now()
    }
  }
}

const STATUS_LINE = /^HTTP\/1\.[01] (\d{3})(?: .*)?$/
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

const readResponse = async (stream: ByteStream, headRequest: boolean): Promise<RawResponse> => {
  for (;;) {
    const start = await stream.line()
    const match = STATUS_LINE.exec(start)
    if (match === null)
      throw new BrokenError(`not an HTTP status line: ${JSON.stringify(start.slice(0, 160))}`)
    const status = Number(match[1])
    const headers = await readHeaders(stream)
    if (status < 200) continue
    const head = { status, headers, body: Buffer.alloc(0) }
    return headRequest || status === 204 || status === 304
      ? head
      : { ...head, body: await readBody(stream, head) }
  }
}

const readHeaders = async (stream: ByteStream): Promise<[string, string][]> => {
  const headers: [string, string][] = []
  for (let line = await stream.line(); line !== ''; line = await stream.line()) {
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(colon, 0))
    if (!HEADER_NAME.test(name)) {
      throw new BrokenError(`malformed response header ${JSON.stringify(line.slice(0, 160))}`)
    }
    headers.push([name, line.slice(colon + 1).replace(/^[ \t]+|[ \t]+$/g, '')])
  }
  return headers
}

const readBody = async (stream: ByteStream, head: RawResponse): Promise<Buffer> => {
  const codings = headerValues(head, 'transfer-encoding')
  const lengths = headerValues(head, 'content-length')
  if (codings.length > 0 && lengths.length > 0) {
    throw new BrokenError('response has both Content-Length and Transfer-Encoding')
  }
  if (codings.length > 0) return readChunked(stream)
  if (new Set(lengths).size > 1) {
    throw new BrokenError('response has two different Content-Length values')
  }
  const [length] = lengths
  return length === undefined ? stream.takeToEnd() : stream.take(Number(length))
}

const readChunked = async (stream: ByteStream): Promise<Buffer> => {
  const chunks: Buffer[] = []
  for (;;) {
    const size = ((await stream.line()).split(';')[0] ?? '').trim()
    if (!/^[0-9a-fA-F]+$/.test(size)) {
      throw new BrokenError(`bad chunk size ${JSON.stringify(size)} in response`)
    }
    if (parseInt(size, 16) === 0) break
    chunks.push(await stream.take(parseInt(size, 16)))
    if ((await stream.take(2)).toString('latin1') !== '\r\n') {
      throw new BrokenError('bad chunk ending in response')
    }
  }
  while ((await stream.line()) !== '');
  return Buffer.concat(chunks)
}
