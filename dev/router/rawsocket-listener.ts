// Accepts RawSocket connections on one TCP port and carries whole messages both ways. Knows of a client only its Inlet;
// drops clients that do not read what they are sent.

import { createServer, type Socket } from 'node:net'
import {
  FRAME,
  FrameBatch,
  FrameReader,
  type FrameType,
} from '../../dataplane/wamp/transport/rawsocket-frames.ts'
import { HANDSHAKE_BYTES } from '../../dataplane/wamp/transport/rawsocket-handshake.ts'
import type { Outlet } from './connection.ts'
import { endServer, LEAVE_MS, type Listener, type ListenerNeeds, listenOn } from './listener.ts'
import { encodeFor, takeBytes } from './message-codec.ts'
import { answerGreeting, type Handshake } from './rawsocket-handshake.ts'
import { MessageError } from '../../dataplane/wamp/protocol/message-error.ts'

/** @throws the error of `listen`, such as EADDRINUSE */
export const listenForRawSockets = async (needs: ListenerNeeds): Promise<Listener> => {
  const sockets = new Set<Socket>()
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    // `close` follows each error and reports the end.
    socket.on('error', () => undefined)
    shakeHands(socket, needs)
  })
  const port = await listenOn(server, needs)
  return {
    url: `rs://${needs.host}:${port}`,
    close: (leaveMs) =>
      endServer(server, leaveMs, () => {
        for (const socket of sockets) socket.destroy()
      }),
  }
}

const HANDSHAKE_MS = 5000

const shakeHands = (socket: Socket, needs: ListenerNeeds): void => {
  let received = Buffer.alloc(0)
  socket.setTimeout(HANDSHAKE_MS, () => socket.destroy())
  const onData = (chunk: Buffer): void => {
    received = Buffer.concat([received, chunk])
    if (received.length < HANDSHAKE_BYTES) return
    socket.off('data', onData)
    const handshake = answerGreeting(received, needs.maxMessageBytes)
    if (handshake.kind === 'foreign') socket.destroy()
    else if (handshake.kind === 'refused') socket.end(handshake.response)
    else serve(socket, handshake, needs, received.subarray(HANDSHAKE_BYTES))
  }
  socket.on('data', onData)
}

type Agreed = Extract<Handshake, { readonly kind: 'agreed' }>

const serve = (socket: Socket, agreed: Agreed, needs: ListenerNeeds, rest: Buffer): void => {
  socket.setTimeout(0)
  socket.write(agreed.response)
  const add = createFrameWriter(socket, needs.maxQueuedBytes)
  const maxSentBytes = Math.min(agreed.maxSentBytes, needs.maxMessageBytes)
  const inlet = needs.accept(outletOf(socket, { ...agreed, maxSentBytes }, add))
  const reader = new FrameReader(agreed.maxReceivedBytes, (type, payload) => {
    if (type === FRAME.message) takeBytes(inlet, agreed.serializer, payload)
    else if (type === FRAME.ping) add(FRAME.pong, Buffer.from(payload))
  })
  const take = (chunk: Buffer): void => {
    try {
      reader.push(chunk)
    } catch (error) {
      if (!(error instanceof MessageError && error.code === 'malformed_frame')) throw error
      inlet.refuse(error.message)
      socket.off('data', take).resume()
    }
  }
  socket.on('data', take)
  socket.on('close', () => {
    inlet.gone()
  })
  take(rest)
}

type AddFrame = (type: FrameType, payload: Buffer) => void

const outletOf = (socket: Socket, { serializer, maxSentBytes }: Agreed, add: AddFrame): Outlet => ({
  send(message) {
    const bytes = encodeFor(serializer, message, maxSentBytes)
    if (bytes !== undefined) add(FRAME.message, bytes)
    return bytes !== undefined
  },
  close() {
    // After the frames of this tick.
    process.nextTick(() => socket.end())
    // Some clients, autobahn's among them, do not answer a FIN.
    setTimeout(() => socket.destroy(), LEAVE_MS).unref()
  },
})

/** Frames of one tick are written together. */
const createFrameWriter = (socket: Socket, maxQueuedBytes: number): AddFrame => {
  const batch = new FrameBatch()
  const flush = (): void => {
    const bytes = batch.take()
    if (socket.writable) socket.write(bytes)
  }
  return (type, payload) => {
    if (socket.writableLength + batch.bytes + payload.length > maxQueuedBytes) {
      socket.destroy()
      return
    }
    if (batch.bytes === 0) process.nextTick(flush)
    batch.add(type, payload, payload.length)
  }
}
