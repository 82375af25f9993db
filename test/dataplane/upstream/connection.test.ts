// Attempts to connect that are given up after 250 ms, as a socket tells them: they say something of the address only where
// this process heard what came in meanwhile.

import { expect, it } from '@jest/globals'
import { Socket } from 'node:net'
import { type ConnectionEvents, openConnection } from '../../../dataplane/upstream/connection.ts'
import type { Connector } from '../../../dataplane/upstream/destinations/connector.ts'
import { Endpoint } from '../../../dataplane/upstream/endpoints/endpoint-set.ts'

it.each([
  { heardMs: 0, told: [] },
  { heardMs: 100, told: [] },
  { heardMs: 200, told: ['unreachable'] },
  { heardMs: 260, told: ['unreachable'] },
])('are told as $told where $heardMs ms of them were heard', async ({ heardMs, told }) => {
  const endpoint = new Endpoint({ address: '10.0.0.1', family: 4 }, 0, -Infinity)
  const faults: string[] = []
  const events: ConnectionEvents = {
    candidates: () => [endpoint],
    assign: () => undefined,
    onAttemptFailed: (_, fault) => faults.push(fault),
    onConnected: () => undefined,
    onDisconnected: () => undefined,
  }
  let passedMs = 1000
  const socket = new Socket()
  const attempted = Promise.withResolvers<undefined>()
  const connector: Connector = ({ hostname }, _connected, lookup) => {
    lookup?.(hostname, { all: true }, () => {
      socket.emit('connectionAttempt', endpoint.address, 80, 4)
      passedMs += heardMs
      socket.emit('connectionAttemptTimeout', endpoint.address, 80, 4)
      attempted.resolve(undefined)
    })
    return socket
  }
  const { client } = openConnection(
    {
      origin: 'http://up.test',
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
  const handler = {
    onRequestStart: ignore,
    onResponseStart: ignore,
    onResponseData: ignore,
    onResponseEnd: ignore,
    onResponseError: ignore,
  }
  client.dispatch({ method: 'GET', path: '/' }, handler)
  await attempted.promise
  expect(faults).toEqual(told)
  await client.destroy()
  socket.destroy()
})

const ignore = (): void => undefined
