// A router's RawSocket address in, a joined WAMP session out that costs next to nothing: whole messages as
// JSON texts, one write for all that is sent in one tick. It asks for nothing by itself.

import { once } from 'node:events'
import { connect } from 'node:net'
import { FRAME, FrameBatch, FrameReader } from '../../dataplane/wamp/transport/rawsocket-frames.ts'
import {
  greeting,
  HANDSHAKE_BYTES,
  MAX_FRAME_BYTES,
  readResponse,
} from '../../dataplane/wamp/transport/rawsocket-handshake.ts'
import { MESSAGE } from '../../dataplane/wamp/protocol/messages.ts'

export interface RawSession extends Disposable {
  /** A message as JSON text. */
  send(text: string): void
  /** The next message that comes; it is passed on nowhere else. */
  next(): Promise<readonly unknown[]>
  /** Each message from now on. */
  listen(onMessage: (message: readonly unknown[]) => void): void
}

const JSON_ID = 1
const ROLES = { caller: {}, callee: {}, publisher: {}, subscriber: {} }

/** Anonymous. Rejects with the router's word when it does not let the client join. */
export const joinRouter = async (url: string, realm: string): Promise<RawSession> => {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) }).setNoDelay(true)
  socket.write(greeting(JSON_ID, MAX_FRAME_BYTES + 1))
  const [response] = (await once(socket, 'data')) as [Buffer]
  if (readResponse(response.subarray(0, HANDSHAKE_BYTES), JSON_ID).kind !== 'ready')
    throw new Error(`${url} takes no JSON over RawSocket`)

  const batch = new FrameBatch()
  const flush = (): void => {
    socket.write(batch.take())
  }
  let take: (message: readonly unknown[]) => void = () => undefined
  const reader = new FrameReader(MAX_FRAME_BYTES, (_type, payload) => {
    take(JSON.parse(payload.toString()) as readonly unknown[])
  })
  socket.on('data', (chunk) => {
    reader.push(chunk)
  })
  const session: RawSession = {
    send: (text) => {
      if (batch.bytes === 0) setImmediate(flush)
      batch.add(FRAME.message, text, Buffer.byteLength(text))
    },
    next: () =>
      new Promise((resolve) => {
        take = resolve
      }),
    listen: (onMessage) => {
      take = onMessage
    },
    [Symbol.dispose]: () => socket.destroy(),
  }
  await ask(session, [MESSAGE.hello, realm, { roles: ROLES }], MESSAGE.welcome)
  return session
}

/** Sends a request; the response of that type. Rejects with any other. */
export const ask = async (
  session: RawSession,
  request: readonly unknown[],
  type: number,
): Promise<readonly unknown[]> => {
  const answered = session.next()
  session.send(JSON.stringify(request))
  const response = await answered
  if (response[0] === type) return response
  throw new Error(`${JSON.stringify(request)}: the router says ${JSON.stringify(response)}`)
}
