// Creates a response on a socket that node has released (CONNECT, upgrades), so that such a request is rejected like
// any other. The connection ends with it.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { http } from '../../base/node-http.ts'

/** A client that does not hang up keeps its connection no longer than this. */
const LINGER_MS = 1000

/** undefined: there is nothing to respond on; the socket is destroyed. */
export const createSocketResponse = (
  request: IncomingMessage,
  socket: Duplex,
): ServerResponse | undefined => {
  if (!(socket instanceof Socket)) {
    socket.destroy()
    return undefined
  }
  const response = new http.ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  response.once('finish', () => {
    endSoftly(socket)
  })
  return response
}

/** Closing immediately would reset the connection before the client has read the response. */
const endSoftly = (socket: Socket): void => {
  socket.end()
  socket.resume()
  const timer = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => {
    clearTimeout(timer)
  })
}
