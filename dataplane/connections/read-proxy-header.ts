// Reads the PROXY protocol header of a new connection. Whatever follows the header stays on the socket, byte for
// byte, for the next reader: an HTTP parser or TLS.

import type { Socket } from 'node:net'
import type { Deadlines, Timed } from '../deadlines.ts'
import { parseProxyHeader, type SourceAddress } from './parse-proxy-header.ts'

export type ProxyHeaderResult =
  | { readonly kind: 'header'; readonly source: SourceAddress | undefined }
  /** The connection must be closed; `message` says what was wrong. */
  | { readonly kind: 'fault'; readonly message: string }
  /** It was closed without a byte, as balancers do to check that the port is open. */
  | { readonly kind: 'gone' }

export interface HeaderDeadline {
  readonly deadlines: Deadlines
  readonly timeoutMs: number
}

/** `done` is called once. Before that nothing else may read from the socket or listen to its errors. */
export const readProxyHeader = (
  socket: Socket,
  { deadlines, timeoutMs }: HeaderDeadline,
  done: (result: ProxyHeaderResult) => void,
): void => {
  let bytes: Buffer = Buffer.alloc(0)

  const finish = (result: ProxyHeaderResult): void => {
    deadlines.remove(deadline)
    socket.off('readable', onReadable).off('error', ignoreError).off('end', onEnd)
    socket.off('close', onEnd)
    done(result)
  }

  const onReadable = (): void => {
    const chunk = socket.read() as Buffer | null
    if (chunk === null) return
    bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk])
    const header = parseProxyHeader(bytes)
    if (header.kind === 'incomplete') return
    if (header.kind === 'malformed') {
      finish({ kind: 'fault', message: header.message })
      return
    }
    const rest = bytes.subarray(header.bytes)
    if (rest.length > 0) socket.unshift(rest)
    finish({ kind: 'header', source: header.source })
  }

  const onEnd = (): void => {
    finish(
      bytes.length === 0
        ? { kind: 'gone' }
        : { kind: 'fault', message: 'the connection ended within the header' },
    )
  }

  const deadline: Timed = {
    due: deadlines.dueIn(timeoutMs),
    slot: -1,
    expire: () => {
      finish({ kind: 'fault', message: 'the header did not arrive in time' })
    },
  }
  deadlines.add(deadline)
  socket.on('readable', onReadable).on('error', ignoreError).on('end', onEnd).on('close', onEnd)
}

/** `close` follows. */
const ignoreError = (): void => undefined
