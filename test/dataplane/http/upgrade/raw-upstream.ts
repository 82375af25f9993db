// An upstream of WebSockets that a test plays byte by byte: it keeps the head of each handshake and what came behind it.

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

export interface RawUpstream extends AsyncDisposable {
  readonly host: string
  /** As they came. */
  readonly heads: string[]
  /** What came behind the head of each, in order. */
  readonly bytes: Buffer[]
  readonly sockets: Socket[]
}

/** RFC 6455 §4.2.2. */
const acceptOf = (head: string): string => {
  const key = /\r\nsec-websocket-key: (.*)\r\n/i.exec(head)?.[1] ?? ''
  return createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
}

/** What a server that accepts says; `lines` in place of, or beside, its own. */
export const switching = (head: string, lines: Readonly<Record<string, string>> = {}): string => {
  const fields: Record<string, string> = {
    upgrade: 'websocket',
    connection: 'Upgrade',
    'sec-websocket-accept': acceptOf(head),
    ...lines,
  }
  const text = Object.entries(fields)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
  return `HTTP/1.1 101 Switching Protocols\r\n${text}\r\n`
}

/** @param respond called once for each handshake; by default it accepts, and echoes whatever comes */
export const startRawUpstream = async (
  respond: (head: string, socket: Socket, number: number) => void = (head, socket) => {
    socket.write(switching(head))
    socket.pipe(socket)
  },
): Promise<RawUpstream> => {
  const heads: string[] = []
  const bytes: Buffer[] = []
  const sockets: Socket[] = []
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const number = sockets.push(socket) - 1
    let head = ''
    socket.on('error', () => undefined)
    const onData = (chunk: Buffer): void => {
      head += chunk.toString('latin1')
      const end = head.indexOf('\r\n\r\n')
      if (end < 0) return
      socket.off('data', onData)
      const rest = Buffer.from(head.slice(end + 4), 'latin1')
      heads[number] = head.slice(0, end + 4)
      bytes[number] = rest
      socket.on('data', (more: Buffer) => {
        bytes[number] = Buffer.concat([bytes[number] ?? Buffer.alloc(0), more])
      })
      respond(heads[number], socket, number)
    }
    socket.on('data', onData)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    host: `http://127.0.0.1:${port}`,
    heads,
    bytes,
    sockets,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
