// Nothing comes in; a TCP port of 127.0.0.1 goes out that nobody listens on and that the kernel gives to nobody
// else: who starts there later, or comes back there, finds it as it was. For a server that stays listen on port 0
// instead; where nobody must ever answer take 127.0.0.1:1.

import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the range of outgoing connections and of port 0 (32768 and up on Linux). */
const FIRST = 20_000
const LAST = 31_999

/** By this file's tests, who may not have come to listen on them yet. */
const given = new Set<number>()

export const freePort = async (): Promise<number> => {
  const port = randomInt(FIRST, LAST + 1)
  if (given.has(port)) return freePort()
  given.add(port)
  return (await isFree(port)) ? port : freePort()
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
