// Exchanges whole message bodies with a router, over WebSocket or RawSocket. It checks and repairs nothing, and knows
// nothing of what the bodies hold.

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { WebSocket } from 'ws'
import type { SerializerName } from '../../dataplane/wamp/protocol/messages.ts'
import { WAMP_CODECS } from './wamp-codec.ts'

export interface RawWampWire {
  send(body: Uint8Array): void
  /** Without a word of WAMP. */
  close(): void
  /** Stops reading: what the router sends stays in its buffers. */
  pause(): void
}

export interface WireHandlers {
  onBody(body: Buffer): void
  onEnd(): void
}

/** Resolves when the transport's handshake is done, else rejects. `ws://…` or `rs://host:port`. */
export const openRawWampWire = (
  url: string,
  serializer: SerializerName,
  handlers: WireHandlers,
): Promise<RawWampWire> =>
  url.startsWith('rs:')
    ? openRawSocket(new URL(url), serializer, handlers)
    : openWebSocket(url, serializer, handlers)

const openWebSocket = async (
  url: string,
  serializer: SerializerName,
  handlers: WireHandlers,
): Promise<RawWampWire> => {
  const socket = new WebSocket(url, [`wamp.2.${serializer}`], {
    maxPayload: 0,
    perMessageDeflate: false,
  })
  socket.binaryType = 'nodebuffer'
  socket.on('message', (body) => {
    handlers.onBody(body as Buffer)
  })
  socket.on('close', () => {
    handlers.onEnd()
  })
  await once(socket, 'open')
  socket.on('error', () => undefined)
  const { isText } = WAMP_CODECS[serializer]
  return {
    send: (body) => {
      socket.send(body, { binary: !isText })
    },
    close: () => {
      socket.terminate()
    },
    pause: () => {
      socket.pause()
    },
  }
}

const MAGIC = 0x7f
/** 2^24: the most that a RawSocket frame can carry. */
const LARGEST = 0xf
const FRAME = { message: 0, ping: 1, pong: 2 } as const

const openRawSocket = async (
  url: URL,
  serializer: SerializerName,
  handlers: WireHandlers,
): Promise<RawWampWire> => {
  const socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true })
  socket.on('close', () => {
    handlers.onEnd()
  })
  await once(socket, 'connect')
  socket.on('error', () => undefined)
  socket.write(Buffer.of(MAGIC, (LARGEST << 4) | WAMP_CODECS[serializer].rawSocketId, 0, 0))
  const reader = new FrameReader()
  await new Promise<void>((resolve, reject) => {
    socket.on('close', () => {
      reject(new Error('the router ended the RawSocket handshake'))
    })
    socket.on('data', (chunk: Buffer) => {
      reader.push(chunk)
      if (reader.takeHandshake()) resolve()
      for (let frame = reader.takeFrame(); frame !== undefined; frame = reader.takeFrame()) {
        if (frame.type === FRAME.message) handlers.onBody(frame.body)
        else if (frame.type === FRAME.ping) sendFrame(socket, FRAME.pong, frame.body)
      }
    })
  })
  return {
    send: (body) => {
      sendFrame(socket, FRAME.message, body)
    },
    close: () => {
      socket.destroy()
    },
    pause: () => {
      socket.pause()
    },
  }
}

const sendFrame = (socket: Socket, type: number, body: Uint8Array): void => {
  const head = Buffer.alloc(4)
  head.writeUInt32BE(body.length)
  head.writeUInt8(type)
  socket.cork()
  socket.write(head)
  socket.write(body)
  socket.uncork()
}

class FrameReader {
  #chunks: Buffer[] = []
  #length = 0
  #isShaken = false

  push(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#length += chunk.length
  }

  /** True once: when the router's four bytes have come. */
  takeHandshake(): boolean {
    if (this.#isShaken || this.#length < 4) return false
    this.#isShaken = true
    const bytes = this.#joined()
    if (bytes[0] !== MAGIC) throw new Error('this is no RawSocket')
    this.#keep(bytes.subarray(4))
    return true
  }

  takeFrame(): { readonly type: number; readonly body: Buffer } | undefined {
    if (!this.#isShaken || this.#length < 4) return undefined
    const head = this.#joined()
    const end = 4 + head.readUIntBE(1, 3)
    if (head.length < end) {
      // Joined again only when it is whole: five megabytes come in eighty chunks.
      this.#wanted = end
      return undefined
    }
    this.#wanted = 0
    this.#keep(head.subarray(end))
    return { type: (head[0] ?? 0) & 7, body: head.subarray(4, end) }
  }

  #wanted = 0

  #joined(): Buffer {
    if (this.#length < this.#wanted) return this.#chunks[0] ?? Buffer.alloc(0)
    if (this.#chunks.length !== 1) this.#chunks = [Buffer.concat(this.#chunks)]
    return this.#chunks[0] ?? Buffer.alloc(0)
  }

  #keep(bytes: Buffer): void {
    this.#chunks = [bytes]
    this.#length = bytes.length
  }
}
