// A count comes in; that many TCP ports of 127.0.0.1 go out that nobody listens on and that the kernel gives
// to nobody else: a server that stops finds its own again when it comes back.

import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the range of outgoing connections and of port 0 (32768 and up on Linux). */
const FIRST = 20_000
const LAST = 31_999

export const quietPorts = async (count: number): Promise<readonly number[]> => {
  const ports = new Set<number>()
  while (ports.size < count) {
    const port = randomInt(FIRST, LAST + 1)
    if (await isFree(port)) ports.add(port)
  }
  return [...ports]
}

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}
