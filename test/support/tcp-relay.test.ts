// The relay that stands between the bridge and a router when a connection has to freeze or to be cut.

import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { ByteStream } from './byte-stream.ts'
import { eventually } from './eventually.ts'
import { startTcpRelay, type TcpRelay } from './tcp-relay.ts'

let echo: Server
let relay: TcpRelay

beforeAll(async () => {
  echo = createServer((socket) => socket.on('error', () => undefined).pipe(socket))
  echo.listen(0, '127.0.0.1')
  await once(echo, 'listening')
  relay = await startTcpRelay((echo.address() as AddressInfo).port)
})

afterAll(async () => {
  await relay[Symbol.asyncDispose]()
  echo.close()
})

const dial = async (): Promise<Socket> => {
  const socket = connect({ host: '127.0.0.1', port: relay.port })
  await once(socket, 'connect')
  return socket
}

/** Whether anything comes within 100 ms. */
const hears = (stream: ByteStream): Promise<boolean> => {
  const quietAt = performance.now() + 100
  return stream.more(() => quietAt)
}

it('passes bytes both ways, nothing while frozen, what waited once thawed', async () => {
  const socket = await dial()
  const stream = new ByteStream(socket, performance.now() + 15_000)
  socket.write('one\r\n')
  expect(await stream.line()).toBe('one')
  relay.freeze()
  socket.write('two\r\n')
  expect(await hears(stream)).toBe(false)
  expect(stream.ended).toBe(false)
  relay.thaw()
  expect(await stream.line()).toBe('two')
  socket.destroy()
  await eventually(() => {
    expect(relay.connections).toBe(0)
  })
})

it('takes connections while frozen, which wake with the rest', async () => {
  relay.freeze()
  const socket = await dial()
  const stream = new ByteStream(socket, performance.now() + 15_000)
  socket.write('late\r\n')
  expect(await hears(stream)).toBe(false)
  relay.thaw()
  expect(await stream.line()).toBe('late')
  socket.destroy()
})

it('cuts what is open and takes new connections', async () => {
  const socket = await dial()
  const cut = new ByteStream(socket)
  socket.write('x\r\n')
  await cut.line()
  relay.cut()
  expect(await cut.more()).toBe(false)
  const next = new ByteStream(await dial(), performance.now() + 15_000)
  next.socket.write('again\r\n')
  expect(await next.line()).toBe('again')
  next.socket.destroy()
})
