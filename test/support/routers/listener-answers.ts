// Says whether a router speaks RawSocket or WebSocket at a port. A port that is only open does not count: Crossbar
// listens before it can answer.

import { once } from 'node:events'
import { connect } from 'node:net'
import { WEBSOCKET_PATH } from './router-config.ts'

const RESPONSE_MS = 5000

/** RawSocket handshake: JSON, 16 MiB. */
export const rawSocketAnswers = async (port: number): Promise<boolean> => {
  const response = await firstBytes(port, Buffer.of(0x7f, 0xf1, 0, 0))
  return response[0] === 0x7f
}

export const webSocketAnswers = async (port: number): Promise<boolean> => {
  const head = [
    `GET ${WEBSOCKET_PATH} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Protocol: wamp.2.json',
    '\r\n',
  ]
  const response = await firstBytes(port, Buffer.from(head.join('\r\n')))
  return response.toString('latin1').startsWith('HTTP/1.1 101 ')
}

/** Empty when nothing listens, or nothing comes. */
const firstBytes = async (port: number, request: Buffer): Promise<Buffer> => {
  const socket = connect({ host: '127.0.0.1', port })
  try {
    socket.write(request)
    const [chunk] = (await once(socket, 'data', { signal: AbortSignal.timeout(RESPONSE_MS) })) as [
      Buffer,
    ]
    return chunk
  } catch {
    return Buffer.alloc(0)
  } finally {
    socket.destroy()
  }
}
