// Chooses a TCP port that nothing listens on at any of the addresses, 127.0.0.1 if left out, and that the kernel gives
// to no other: a server that starts there later, or comes back there, finds it as it was. For a server that stays
// listen on port 0 instead; where nothing may ever answer take 127.0.0.1:1.

import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { pid } from 'node:process'

/**
 * Below the range of outgoing connections and of port 0 (32768 and up on Linux). Processes that run tests side by side
 * have different parts of it: what one has chosen and does not listen on yet, or not at the moment, no other chooses.
 */
const PARTS = 24
const PART_SIZE = 500
const FIRST = 20_000 + (pid % PARTS) * PART_SIZE

/** By this file's tests, who may not have come to listen on them yet. */
const given = new Set<number>()

export const freePort = async (addresses: readonly string[] = ['127.0.0.1']): Promise<number> => {
  const port = randomInt(FIRST, FIRST + PART_SIZE)
  if (given.has(port)) return freePort(addresses)
  given.add(port)
  for (const address of addresses) if (!(await isFree(port, address))) return freePort(addresses)
  return port
}

const isFree = async (port: number, address: string): Promise<boolean> => {
  const server = createServer().listen(port, address)
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}
