// Ends the connections of a TLS server whose clients were authenticated by CAs that are no longer the configured ones:
// whether a certificate is trusted is decided once, when a connection opens.

import type { X509Certificate } from 'node:crypto'
import type { Server as TlsServer } from 'node:https'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { certificatesIn } from '../../../language/certificate-text.ts'
import { responseOn } from '../../connections/node-internals.ts'

export interface ClientConnections {
  /**
   * Ends the connections of clients whose certificates these CAs, in PEM, have not issued: idle ones end now, others with the response in
   * progress, those in their handshake when it is over. So no request is lost of a client that has a new certificate in time.
   */
  endUntrusted(ca: string): void
}

/** Call it before the server listens. */
export const trackClientConnections = (server: TlsServer): ClientConnections => {
  const secure = new Set<TLSSocket>()
  /**
   * Names of connections in their handshake, with the CAs that have replaced those of that handshake. By the client's
   * address and port: the socket of a TLS connection is another object than that of its handshake.
   */
  const handshakes = new Map<string, readonly X509Certificate[] | undefined>()

  server.on('connection', (socket: Socket) => {
    const name = nameOf(socket)
    handshakes.set(name, undefined)
    socket.once('close', () => handshakes.delete(name))
  })
  // Before the HTTP server has it: a request may come in the same piece as the end of the handshake.
  server.prependListener('secureConnection', (socket) => {
    const name = nameOf(socket)
    const authorities = handshakes.get(name)
    handshakes.delete(name)
    if (authorities !== undefined && !isIssuedBy(socket.getPeerX509Certificate(), authorities)) {
      socket.destroy()
      return
    }
    secure.add(socket)
    socket.once('close', () => secure.delete(socket))
  })
  return {
    endUntrusted: (ca) => {
      const authorities = certificatesIn(ca) ?? []
      for (const name of handshakes.keys()) handshakes.set(name, authorities)
      for (const socket of secure)
        if (!isIssuedBy(socket.getPeerX509Certificate(), authorities)) endOne(socket)
    },
  }
}

const nameOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`

/** The most certificates between that of the client and a CA. */
const MAX_CHAIN = 10

const isIssuedBy = (
  certificate: X509Certificate | undefined,
  authorities: readonly X509Certificate[],
): boolean => {
  let link = certificate
  for (let length = 0; link !== undefined && length < MAX_CHAIN; length++) {
    const issued = link
    const isOfThem = (ca: X509Certificate): boolean =>
      issued.checkIssued(ca) && issued.verify(ca.publicKey)
    if (authorities.some(isOfThem)) return true
    link = link.issuerCertificate
  }
  return false
}

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
