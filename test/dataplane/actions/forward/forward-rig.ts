// Upstreams on loopback and gateways that forward to them, closed after each test of the file that imports this.

import { request as httpRequest, type RequestListener } from 'node:http'
import { afterEach } from '@jest/globals'
import { constant } from '../../../../language/expression/template.ts'
import { listenHttp, listenRaw, type Listening } from '../../upstream/servers.ts'
import {
  operationOf,
  startGateway,
  type ForwardParts,
  type Gateway,
  type GatewayOptions,
  type OperationParts,
} from './forward-fixture.ts'

export const closers: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

export const opened = async (server: Promise<Listening>): Promise<Listening> => {
  const listening = await server
  closers.push(() => listening.close())
  return listening
}

export const serving = (listener: RequestListener): Promise<Listening> =>
  opened(listenHttp(listener))

/** Whatever comes, these bytes are the response to it. */
export const answering = (response: string): Promise<Listening> =>
  opened(listenRaw((socket) => socket.write(response, 'latin1')))

export const gatewayTo = async (
  origin: string,
  parts: Partial<Omit<OperationParts, 'action'>> & { readonly action?: ForwardParts } = {},
  options: GatewayOptions = {},
): Promise<Gateway> => {
  const operation = operationOf({ ...parts, action: { ...parts.action, host: constant(origin) } })
  const gateway = await startGateway(operation, options)
  closers.push(() => gateway.close())
  return gateway
}

/** Asks, reads nothing of a response, and goes away then. */
export const leave = async (
  gateway: Gateway,
  path: string,
  when: Promise<unknown>,
): Promise<void> => {
  const request = httpRequest(`${gateway.origin}${path}`, { agent: false })
  request.on('error', () => undefined)
  request.on('response', (response) => {
    response.on('error', () => undefined)
    response.pause()
  })
  request.end()
  await when
  request.destroy()
}
