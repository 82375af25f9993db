// Listens on the address where a server will be opened later, reports each connection and closes it unread.

import { createServer } from 'node:net'
import { once } from '../../base/once.ts'
import { bind, type BindOptions } from './bind.ts'

export interface Doorbell {
  /** Resolves when the address is free again. */
  close(): Promise<void>
}

/** @throws StartError when the address cannot be had */
export const openDoorbell = async (where: BindOptions, onRing: () => void): Promise<Doorbell> => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined).destroy()
    onRing()
  })
  await bind(server, where)
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => {
        resolve()
      })
    })
  return { close: once(close) }
}
