// A count comes in; that many TCP ports of 127.0.0.1 go out, each as `freePort` chooses it: a server that stops
// finds its own again when it comes back.

import { freePort } from '../free-port.ts'

export const quietPorts = async (count: number): Promise<readonly number[]> =>
  Promise.all(Array.from({ length: count }, () => freePort()))
