// Attempts to connect that fail or are given up after 250 ms, as a socket tells them: how long they took counts only as far
// as this process heard what came in meanwhile.

import { expect, it } from '@jest/globals'
import { Socket } from 'node:net'
import { type ConnectionEvents, openConnection } from '../../../dataplane/upstream/connection.ts'
import type { Connector } from '../../../dataplane/upstream/destinations/connector.ts'
import { createUnboundedMemory } from '../../../dataplane/memory/memory-budget.ts'
import { createOpenHttp1Client } from '../../../dataplane/upstream/http1/client.ts'
import type { ResponseHandler } from '../../../dataplane/upstream/http1/exchange.ts'
import { Endpoint } from '../../../dataplane/upstream/endpoints/endpoint-set.ts'

const SILENT: ResponseHandler = {
  onRequestStart: () => true,
  onBodySent: () => undefined,
  onRequestSent: () => undefined,
  onResponseStarted: () => undefined,
  onEarlyHints: () => undefined,
  onResponseHead: () => undefined,
  onSwitched: () => undefined,
  onResponseData: () => true,
  onResponseEnd: () => undefined,
  onResponseError: () => undefined,
}

const TIMEOUT = 'connectionAttemptTimeout'
const FAILED = 'connectionAttemptFailed'

it.each([
  { event: TIMEOUT, heardMs: 0, reported: [] },
  { event: TIMEOUT, heardMs: 100, reported: [] },
  { event: TIMEOUT, heardMs: 200, reported: ['unreachable'] },
  { event: TIMEOUT, heardMs: 260, reported: ['unreachable'] },
  { event: FAILED, heardMs: 0, reported: ['refused'] },
  { event: FAILED, heardMs: 240, reported: ['refused'] },
  { event: FAILED, heardMs: 260, reported: ['refused slowly'] },
])(
  'are reported as $reported at $event where $heardMs ms of them were heard',
  async ({ event, heardMs, reported }) => {
    const endpoint = new Endpoint({ address: '10.0.0.1', family: 4 }, 0, -Infinity)
    const faults: string[] = []
    const events: ConnectionEvents = {
      candidates: () => [endpoint],
      assign: () => undefined,
      onAttemptFailed: (_, fault, isSlow) => faults.push(isSlow ? `${fault} slowly` : fault),
      onConnected: () => undefined,
      onUsable: () => undefined,
      onDisconnected: () => undefined,
    }
    let passedMs = 1000
    const socket = new Socket()
    const attempted = Promise.withResolvers<undefined>()
    const connector: Connector = ({ hostname }, _connected, options) => {
      options?.lookup?.(hostname, { all: true }, () => {
        socket.emit('connectionAttempt', endpoint.address, 80, 4)
        passedMs += heardMs
        socket.emit(event, endpoint.address, 80, 4)
        attempted.resolve(undefined)
      })
      return socket
    }
    const { client } = openConnection(
      {
        origin: 'http://up.test',
        openClient: createOpenHttp1Client(createUnboundedMemory()),
        connector,
        keepAliveMs: 1000,
        dueMs: Infinity,
        whenKnown: (callback) => {
          process.nextTick(callback, null)
        },
        heardMs: () => passedMs,
      },
      events,
    )
    client.dispatch(
      { method: 'GET', path: '/', headers: [], body: null, contentLength: undefined },
      SILENT,
    )
    await attempted.promise
    expect(faults).toEqual(reported)
    client.destroy()
    socket.destroy()
  },
)
