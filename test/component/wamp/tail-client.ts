// A client of event streams that keeps nothing but the end of what it was sent: thousands fit into one process.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { addressOf } from '../../support/raw-client.ts'

const TAIL = 400

export class TailClient {
  readonly socket: Socket
  /** The last of what has come, chunk sizes included. */
  tail = ''
  isClosed = false

  constructor(socket: Socket) {
    this.socket = socket
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.isClosed = true
    })
    socket.on('data', (bytes: Buffer) => {
      this.tail = (this.tail + bytes.toString('latin1')).slice(-TAIL)
    })
  }

  /** The last chunk has come. */
  get isWhole(): boolean {
    return this.tail.endsWith('\r\n0\r\n\r\n')
  }

  /** From now on all that comes stays in the kernel's buffers, or with the sender. */
  stall(): void {
    this.socket.pause()
  }
}

/** A listener's backlog is smaller than what a test opens. */
const AT_ONCE = 100

/** Each has got the head of its response, which begins with that status. */
export const openTailClients = async (url: string, count: number): Promise<TailClient[]> => {
  const { pathname } = new URL(url)
  const head = `GET ${pathname} HTTP/1.1\r\nHost: a.test\r\nAccept: text/event-stream\r\n\r\n`
  const open = async (): Promise<TailClient> => {
    const socket = connect({ ...addressOf(url), noDelay: true })
    await once(socket, 'connect')
    const client = new TailClient(socket)
    socket.write(head)
    await once(socket, 'data')
    if (!client.tail.startsWith('HTTP/1.1 200 ')) throw new Error(client.tail)
    return client
  }
  const clients: TailClient[] = []
  while (clients.length < count) {
    const batch = Array.from({ length: Math.min(AT_ONCE, count - clients.length) }, open)
    clients.push(...(await Promise.all(batch)))
  }
  return clients
}
