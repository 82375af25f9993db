// A whole gateway in this process with one document that forwards to an upstream that says what a test has it say, over
// real sockets. What is opened is closed after each test of the file that imports this.

import type { Socket } from 'node:net'
import { afterEach } from '@jest/globals'
import { createGuard } from '../../../../dataplane/upstream/destinations/guard.ts'
import { createUpstream } from '../../../../dataplane/upstream/pooled-upstream.ts'
import { type Listening, listenRaw } from '../../upstream/servers.ts'
import { apiOf, serveGateway, type ServedGateway } from '../served-gateway.ts'

const closers: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

export interface Served {
  readonly gateway: ServedGateway
  readonly server: Listening
  /** Of the upstream, one for each connection. */
  readonly sockets: Socket[]
  /** What it received first on each of them. */
  readonly requests: string[]
}

export interface ServedParts {
  readonly response?: object
  readonly action?: object
  /** Of the API: defaults, status_codes. */
  readonly api?: Parameters<typeof apiOf>[1]
}

/** @param head the upstream's response to the first request of each connection, as far as it comes by itself */
export const serveUpstream = async (
  head: string,
  { response = {}, action = {}, api = {} }: ServedParts = {},
): Promise<Served> => {
  const sockets: Socket[] = []
  const requests: string[] = []
  const server = await listenRaw((socket, text) => {
    if (sockets.includes(socket)) return
    requests.push(text)
    sockets.push(socket)
    socket.write(head, 'latin1')
  })
  const upstream = createUpstream({ guard: createGuard() })
  const gateway = await serveGateway({ upstream })
  const operation = { action: { type: 'forward', host: server.origin, ...action }, response }
  await gateway.load(apiOf({ '/x': { get: operation, post: operation } }, api))
  closers.push(
    () => server.close(),
    () => upstream.close(),
    async () => {
      await gateway[Symbol.asyncDispose]()
    },
  )
  return { gateway, server, sockets, requests }
}
