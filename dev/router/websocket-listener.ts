// Accepts WebSocket connections on one port and carries whole messages both ways. Knows of a client only its Inlet;
// drops clients that do not read what they are sent.

import { createServer } from 'node:http'
import { type RawData, type WebSocket, WebSocketServer } from 'ws'
import type { Serializer } from '../../dataplane/wamp/transport/serializers/serializer.ts'
import type { Outlet } from './connection.ts'
import { endServer, LEAVE_MS, type Listener, type ListenerNeeds, listenOn } from './listener.ts'
import { encodeFor, serializerOfProtocol, takeBytes } from './message-codec.ts'

/** @throws the error of `listen`, such as EADDRINUSE */
export const listenForWebSockets = async (needs: ListenerNeeds): Promise<Listener> => {
  const server = createServer((_request, response) => {
    response.writeHead(426, { connection: 'close', upgrade: 'websocket' }).end()
  })
  const sockets = new WebSocketServer({
    server,
    maxPayload: needs.maxMessageBytes,
    perMessageDeflate: false,
    verifyClient: ({ req }, respond) => {
      const offered = req.headers['sec-websocket-protocol'] ?? ''
      const chosen = chooseProtocol(offered.split(',').map((name) => name.trim()))
      respond(chosen !== undefined, 400, 'no sub-protocol of WAMP')
    },
    handleProtocols: (offered) => chooseProtocol([...offered]) ?? false,
  })
  sockets.on('connection', (socket) => {
    const serializer = serializerOfProtocol(socket.protocol)
    if (serializer === undefined) socket.terminate()
    else serve(socket, serializer, needs)
  })
  // The same error of the server, a second time; `listenOn` has reported it.
  sockets.on('error', () => undefined)
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

/** The first sub-protocol that we know, in the client's order. */
const chooseProtocol = (offered: readonly string[]): string | undefined =>
  offered.find((protocol) => serializerOfProtocol(protocol) !== undefined)

const serve = (socket: WebSocket, serializer: Serializer, needs: ListenerNeeds): void => {
  const inlet = needs.accept(outletOf(socket, serializer, needs))
  socket.on('message', (data, isBinary) => {
    if (isBinary === serializer.isText) inlet.refuse('the frame is of the wrong kind')
    else takeBytes(inlet, serializer, bytesOf(data))
  })
  // `ws` has answered the client about the bad frame by then.
  socket.on('error', () => undefined)
  socket.on('close', () => {
    inlet.gone()
  })
}

const outletOf = (
  socket: WebSocket,
  serializer: Serializer,
  { maxMessageBytes, maxQueuedBytes }: ListenerNeeds,
): Outlet => ({
  send(message) {
    const bytes = encodeFor(serializer, message, maxMessageBytes)
    if (bytes === undefined) return false
    if (socket.bufferedAmount + bytes.length > maxQueuedBytes) socket.terminate()
    else if (socket.readyState === socket.OPEN) socket.send(bytes, { binary: !serializer.isText })
    return true
  },
  close() {
    socket.close(1000)
    setTimeout(() => {
      socket.terminate()
    }, LEAVE_MS).unref()
  },
})

const bytesOf = (data: RawData): Buffer => {
  if (Array.isArray(data)) return Buffer.concat(data)
  return Buffer.isBuffer(data) ? data : Buffer.from(data)
}
