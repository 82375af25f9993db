// WebSocket connections in, on one port; whole messages both ways for each. Knows what a client is only as an
// Inlet; drops whoever does not read what it is sent.

import { createServer, type IncomingMessage } from 'node:http'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import { type Codec, codecOf } from './codecs.ts'
import type { Inlet, Outlet } from './connection.ts'
import { endServer, type Listener, type ListenerNeeds, listenOn } from './listener.ts'

const PROTOCOL = /^wamp\.2\.(json|msgpack|cbor)$/

/** @throws the error of `listen`, such as EADDRINUSE */
export const listenForWebSockets = async (needs: ListenerNeeds): Promise<Listener> => {
  const server = createServer((_request, response) => {
    response.writeHead(426, { connection: 'close', upgrade: 'websocket' }).end()
  })
  const sockets = new WebSocketServer({
    server,
    maxPayload: needs.maxMessageBytes,
    perMessageDeflate: false,
    verifyClient: ({ req }, answer) => {
      answer(chooseProtocol(offeredBy(req)) !== undefined, 400, 'no sub-protocol of WAMP')
    },
    handleProtocols: (offered) => chooseProtocol(offered) ?? false,
  })
  sockets.on('connection', (socket) => {
    serve(socket, needs)
  })
  const port = await listenOn(server, needs)
  return {
    url: `ws://${needs.host}:${port}/`,
    close: (leaveMs) =>
      endServer(server, leaveMs, () => {
        for (const socket of sockets.clients) socket.terminate()
        server.closeAllConnections()
      }),
  }
}

const chooseProtocol = (offered: Iterable<string>): string | undefined =>
  Array.from(offered).find((protocol) => codecOfProtocol(protocol) !== undefined)

const offeredBy = (request: IncomingMessage): readonly string[] =>
  (request.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim())

const codecOfProtocol = (protocol: string): Codec | undefined => {
  const name = PROTOCOL.exec(protocol)?.[1]
  return name === undefined ? undefined : codecOf(name)
}

const serve = (socket: WebSocket, needs: ListenerNeeds): void => {
  const codec = codecOfProtocol(socket.protocol)
  if (codec === undefined) {
    socket.terminate()
    return
  }
  const inlet = needs.accept(outletOf(socket, codec, needs))
  socket.on('message', (data, isBinary) => {
    if (isBinary === codec.isBinary) receive(inlet, codec, data)
    else inlet.refuse(`frames of this sub-protocol are ${codec.isBinary ? 'binary' : 'text'}`)
  })
  // What is wrong with a frame, `ws` has told the client by then.
  socket.on('error', () => undefined)
  socket.on('close', () => {
    inlet.gone()
  })
}

const receive = (inlet: Inlet, codec: Codec, data: RawData): void => {
  let message
  try {
    message = codec.decode(bytesOf(data))
  } catch (error) {
    inlet.refuse(error instanceof Error ? error.message : 'the message cannot be read')
    return
  }
  inlet.receive(message)
}

const bytesOf = (data: RawData): Buffer => {
  if (Array.isArray(data)) return Buffer.concat(data)
  return Buffer.isBuffer(data) ? data : Buffer.from(data)
}

const outletOf = (socket: WebSocket, codec: Codec, needs: ListenerNeeds): Outlet => ({
  send(message) {
    let bytes
    try {
      bytes = codec.encode(message)
    } catch {
      return false
    }
    if (bytes.length > needs.maxMessageBytes) return false
    if (socket.bufferedAmount + bytes.length > needs.maxQueuedBytes) socket.terminate()
    else if (socket.readyState === socket.OPEN) socket.send(bytes, { binary: codec.isBinary })
    return true
  },
  close() {
    socket.close(1000)
  },
})
