// Chooses TCP ports of 127.0.0.1, each as `freePort` does: a server that stops finds its own again when it comes back.

import { freePort } from '../free-port.ts'

export const quietPorts = async (count: number): Promise<readonly number[]> =>
  Promise.all(Array.from({ length: count }, () => freePort()))
