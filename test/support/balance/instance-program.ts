// Serves HTTP as one instance of an upstream, in a process of its own, at the address, port and name that it is started with:
// every response holds its name. The process that started it says over IPC how it behaves and asks how many requests it got. SIGTERM
// ends it as a well-behaved server ends: requests in flight are answered, idle connections closed.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Behaviour, InstanceReport, InstanceOrder } from './instance.ts'

const [address, port, name = ''] = process.argv.slice(2)

let behaviour: Behaviour = { kind: 'answers', status: 200, delayMs: 0 }
const SERVED_BEFORE_CUT = 9
let received = 0
const requestsOf = new WeakMap<Socket, number>()

const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  received++
  const { socket } = request
  const requests = (requestsOf.get(socket) ?? 0) + 1
  requestsOf.set(socket, requests)
  if (behaviour.kind === 'silent') return
  if (behaviour.kind === 'cuts' && requests > SERVED_BEFORE_CUT) {
    socket.destroy()
    return
  }
  const { status, delayMs } = behaviour.kind === 'answers' ? behaviour : { status: 200, delayMs: 0 }
  if (delayMs > 0) await sleep(delayMs)
  request.resume()
  response.writeHead(status, { 'x-instance': name }).end(name)
}

// One that is frozen has room for a few connections that are not accepted; the kernel drops further attempts.
const BACKLOG = 1

const server = createServer({ keepAliveTimeout: 60_000, noDelay: true }, (request, response) => {
  void answer(request, response)
})
server.listen({ host: address, port: Number(port), backlog: name === 'frozen' ? BACKLOG : 511 })

const tell = (message: InstanceReport, told: () => void = () => undefined): void => {
  process.send?.(message, told)
}

const freeze = (): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

server.on('listening', () => {
  tell({ kind: 'listening' }, name === 'frozen' ? freeze : undefined)
})

process.on('message', (order: InstanceOrder) => {
  if (order.kind === 'behave') behaviour = order.behaviour
  tell({ kind: 'received', id: order.id, requests: received })
})
process.on('disconnect', () => process.exit())
process.on('SIGTERM', () => {
  server.close(() => process.exit())
})
