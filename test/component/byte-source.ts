// An upstream that gives as many bytes as a request asks for, `/N`, as fast as they are taken, or stops
// after the first of them, `/N/stall`, or gives no response at all, `/N/silent`. It knows how many have
// left it, and who hung up.

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'

export interface ByteSource extends AsyncDisposable {
  readonly origin: string
  /** Responses that are on their way right now. */
  readonly running: () => number
  /** Bytes that have been asked of it by the sockets, over all responses. */
  readonly given: () => number
}

const BLOCK = Buffer.alloc(65_536, 'svc')

export const startByteSource = async (): Promise<ByteSource> => {
  let running = 0
  let given = 0
  // It closes no idle connection, on which a request may have come that it has not read yet.
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    const [, count, how] = request.url?.split('/') ?? []
    let left = Number(count)
    running += 1
    response.once('close', () => (running -= 1))
    if (how === 'silent') return
    response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': left })
    const body = new Readable({
      read() {
        if (how === 'stall' && left < Number(count)) return
        const block = left > BLOCK.length ? BLOCK : BLOCK.subarray(0, left)
        left -= block.length
        given += block.length
        this.push(block.length === 0 ? null : block)
      },
    })
    body.pipe(response)
    response.once('close', () => body.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    running: () => running,
    given: () => given,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
