import { afterEach, beforeEach, expect, it } from '@jest/globals'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { createMetricsResponse } from '../../../dataplane/management/metrics-response.ts'
import { eventually } from '../../support/eventually.ts'
import { request } from '../../support/http-request.ts'

const PIECE = 'x'.repeat(256 * 1024)
/** More than the buffers of two sockets. */
const PIECES = 100

let server: Server
let reads = 0
let rendered = 0
const sockets: Socket[] = []

function* pieces(): Generator<string> {
  for (let piece = 0; piece < PIECES; piece++) {
    rendered += 1
    yield PIECE
  }
}

beforeEach(async () => {
  reads = 0
  rendered = 0
  const respond = createMetricsResponse(() => {
    reads += 1
    return Promise.resolve(pieces())
  })
  server = createServer((incoming, response) => void respond(incoming, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
  server.close()
  server.closeAllConnections()
})

const port = (): number => (server.address() as AddressInfo).port

/** Asks for the metrics and reads nothing. */
const openSilent = async (): Promise<Socket> => {
  const before = reads
  const socket = connect(port(), '127.0.0.1')
  socket.on('error', () => undefined)
  socket.pause()
  socket.write('GET /metrics HTTP/1.1\r\nhost: a\r\n\r\n')
  sockets.push(socket)
  await eventually(() => {
    expect(reads).toBe(before + 1)
  })
  return socket
}

const connections = (): Promise<number> =>
  new Promise((resolve) => {
    server.getConnections((_error, count) => {
      resolve(count)
    })
  })

it('sends all of the text', async () => {
  const { status, headers, text } = await request(`http://127.0.0.1:${port()}/metrics`)
  expect([status, headers['content-type']]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
  ])
  expect(text).toHaveLength(PIECES * PIECE.length)
})

it('answers HEAD without reading anything', async () => {
  const { status } = await request(`http://127.0.0.1:${port()}/metrics`, { method: 'HEAD' })
  expect([status, reads]).toEqual([200, 0])
})

it('ends the oldest of nine scrapers that do not read, and serves one that does', async () => {
  for (let count = 0; count < 8; count++) await openSilent()
  expect(await connections()).toBe(8)
  // Nothing is rendered ahead of what is read.
  expect(rendered).toBeLessThan((8 * PIECES) / 2)
  await openSilent()
  await eventually(async () => {
    expect(await connections()).toBe(8)
  })
  const { text } = await request(`http://127.0.0.1:${port()}/metrics`)
  expect(text).toHaveLength(PIECES * PIECE.length)
})
