// Responses that end their connection while the client is still sending, over real sockets.

import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, it } from '@jest/globals'
import { eventually } from '../../support/eventually.ts'
import { answers, apiOf, serveGateway, type ServedGateway } from '../http/served-gateway.ts'

let gateway: ServedGateway

beforeEach(async () => {
  gateway = await serveGateway()
  await gateway.load(apiOf({ '/x': { get: answers('x'), post: answers('{{request.body}}') } }))
})

afterEach(async () => {
  await gateway[Symbol.asyncDispose]()
})

/** What a client gets that sends as fast as it can, and gives up when it can't any more, as most clients do. */
const upload = (head: string): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect(gateway.address)
    const piece = Buffer.alloc(64 * 1024, 'x')
    let received = ''
    const send = (): void => {
      while (!socket.destroyed && socket.write(piece));
    }
    socket
      .on('data', (chunk) => {
        received += chunk.toString('latin1')
        // Other clients read to the end of the response.
        if (received.endsWith('}')) socket.destroy()
      })
      .on('drain', send)
      .on('error', () => undefined)
      .on('close', () => {
        resolve(received)
      })
    socket.write(
      `POST /x HTTP/1.1\r\nHost: a.test\r\nContent-Type: application/json\r\n${head}\r\n`,
    )
    send()
  })

it.each([
  ['a length over the limit', 'Content-Length: 30000000\r\n'],
  ['a chunk that goes over the limit', 'Transfer-Encoding: chunked\r\n\r\n4000000\r\n'],
])('a client that is still sending its body gets the 413: %s', async (_, head) => {
  for (let time = 0; time < 5; time++) expect(await upload(head)).toMatch(/^HTTP\/1\.1 413 /)
})

const HEAD =
  'POST /x HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 30000000\r\n\r\n'

/** A client that does not disconnect when the gateway has ended its side. */
const openStubborn = async (): Promise<{ received: string; hasEnded: boolean; socket: Socket }> => {
  const client = {
    received: '',
    hasEnded: false,
    socket: connect({ ...gateway.address, allowHalfOpen: true }),
  }
  client.socket
    .on('data', (chunk) => (client.received += chunk.toString('latin1')))
    .on('end', () => (client.hasEnded = true))
    .on('error', () => undefined)
    .write(HEAD)
  await eventually(() => {
    expect(client.hasEnded).toBe(true)
  })
  expect(client.received).toMatch(/^HTTP\/1\.1 413 /)
  return client
}

it('what comes behind such a body is not performed', async () => {
  const client = await openStubborn()
  const sent = new Promise((resolve) => {
    client.socket.write(Buffer.alloc(30_000_000), resolve)
  })
  client.socket.write('GET /x HTTP/1.1\r\nHost: a\r\n\r\n')
  await sent
  await eventually(async () => {
    expect(await gateway.connections()).toBe(0)
  })
  expect(gateway.statuses).toEqual([413])
})

it('a client that sends nothing more and does not disconnect is disconnected', async () => {
  await openStubborn()
  await eventually(async () => {
    expect(await gateway.connections()).toBe(0)
  })
})
