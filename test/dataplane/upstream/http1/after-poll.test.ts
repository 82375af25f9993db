// Tests with real sockets that deferred work sees what the kernel knew when the work came up.

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterEach, expect, it } from '@jest/globals'
import { createAfterPoll } from '../../../../dataplane/upstream/http1/after-poll.ts'

const sockets: Socket[] = []
const server = createServer()

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await new Promise((resolve) => server.close(resolve))
})

const pair = async (): Promise<readonly [client: Socket, peer: Socket]> => {
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [peer] = (await once(server, 'connection')) as [Socket]
  sockets.push(client, peer)
  return [client, peer]
}

it('runs what comes up while a socket is read after the end of another one was seen', async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const [busy, busyPeer] = await pair()
  const [idle, idlePeer] = await pair()
  let hasIdleEnded = false
  idle.resume().on('end', () => (hasIdleEnded = true))
  const afterPoll = createAfterPoll()
  const seen = new Promise<boolean>((resolve) => {
    busy.once('data', () => {
      // The kernel has its end from here on; this turn of the event loop has asked before.
      idlePeer.destroy()
      afterPoll({
        onPolled: () => {
          resolve(hasIdleEnded)
        },
      })
    })
  })
  busyPeer.write('x')
  expect(await seen).toBe(true)
})

it('runs all that has come up, once and in order', async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const afterPoll = createAfterPoll()
  const ran: number[] = []
  await new Promise<void>((resolve) => {
    afterPoll({
      onPolled: () => {
        ran.push(1)
        afterPoll({
          onPolled: () => {
            ran.push(3)
            resolve()
          },
        })
      },
    })
    afterPoll({ onPolled: () => ran.push(2) })
  })
  expect(ran).toEqual([1, 2, 3])
})
