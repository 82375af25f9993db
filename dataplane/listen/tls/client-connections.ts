// Ends the connections of a TLS server whose clients were authenticated by CAs that are no longer the configured ones:
// whether a certificate is trusted is decided once, when a connection opens.

import type { Server as TlsServer } from 'node:https'
import type { Socket } from 'node:net'
import { responseOn } from '../../connections/pipelined-requests.ts'

export interface ClientConnections {
  /** Idle ones and those in their handshake end now, others with the response in progress. New ones are accepted. */
  end(): void
}

/** Call it before the server listens. */
export const trackClientConnections = (server: TlsServer): ClientConnections => {
  const secure = new Set<Socket>()
  /** By the client's address and port: the socket of a TLS connection is another object than that of its handshake. */
  const handshakes = new Map<string, Socket>()

  server.on('connection', (socket: Socket) => {
    const name = nameOf(socket)
    handshakes.set(name, socket)
    socket.once('close', () => {
      if (handshakes.get(name) === socket) handshakes.delete(name)
    })
  })
  server.on('secureConnection', (socket) => {
    handshakes.delete(nameOf(socket))
    secure.add(socket)
    socket.once('close', () => secure.delete(socket))
  })
  return {
    end: () => {
      for (const socket of handshakes.values()) socket.destroy()
      for (const socket of secure) endOne(socket)
    },
  }
}

const nameOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`

/** Queued requests are not performed: they have no response in progress. */
const endOne = (socket: Socket): void => {
  const response = responseOn(socket)
  if (response === undefined) {
    socket.destroy()
    return
  }
  response.shouldKeepAlive = false
  response.once('finish', () => {
    socket.destroySoon()
  })
}
