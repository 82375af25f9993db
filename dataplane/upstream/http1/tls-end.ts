// Reports the end of a TLS connection that its peer has not announced (`close_notify`), by a handle of Node that has no
// public name. Whether that is there is checked at the start (`start/private-doors.ts`).

import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { getSystemErrorName } from 'node:util'

/**
 * Nothing is reported of a plain connection, whose end proves nothing.
 * @param onCutOff called before `end` is emitted
 */
export const watchTlsEnd = (socket: Socket, onCutOff: () => void): void => {
  if (!(socket instanceof TLSSocket)) return
  const push = socket.push.bind(socket)
  // At `end` it would be too late: where data waits to be read, TCP may end in between.
  socket.push = (chunk, encoding) => {
    if (chunk === null && !isEndAnnounced(socket)) onCutOff()
    return push(chunk, encoding)
  }
}

interface TcpHandle {
  /** @returns 0, or a negative error number */
  readonly readStart?: () => number
  readonly readStop?: () => number
}

interface TlsHandle {
  readonly reading?: boolean
  readonly _parent?: TcpHandle
}

const tlsHandleOf = (secure: TLSSocket): TlsHandle | undefined =>
  (secure as { readonly _handle?: TlsHandle | null })._handle ?? undefined

/** TCP below a TLS connection. */
export const tcpHandleUnder = (secure: TLSSocket): TcpHandle | undefined =>
  tlsHandleOf(secure)?._parent

/**
 * Whether the peer itself has ended a TLS connection (`close_notify`): anybody on the way can end TCP below it, and Node
 * reports both alike. To be called while Node reports the end: libuv no longer reads TCP whose end it has reported, and
 * does not report the end of TCP that is paused. Bytes are not counted, as the end of TCP may follow half a record.
 */
const isEndAnnounced = (secure: TLSSocket): boolean => {
  if (tlsHandleOf(secure)?.reading === false) return true
  const tcp = tcpHandleUnder(secure)
  const status = tcp?.readStart?.() ?? 0
  if (status === 0) tcp?.readStop?.()
  return status < 0 && getSystemErrorName(status) === 'EALREADY'
}
