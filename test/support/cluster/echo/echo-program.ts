// Runs an application of tests in a pod: it answers requests on port 8080 with what they were, from where, and to which
// pod. `/slow/MS` answers after that time, `/events` or `/events/MS` are server-sent events without end, one every MS
// (100), `/ready` is 200, a WebSocket sends back what comes. On SIGTERM it ends what runs and then itself; with the
// argument `abrupt`, at once.

import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { hostname } from 'node:os'
import { argv } from 'node:process'
import type { Duplex } from 'node:stream'

const pod = hostname()

const numberIn = (path: string): number => Number(/^\/\w+\/(\d+)/.exec(path)?.[1] ?? 100)

/** Whose connection it is: of a gateway its pod. */
const addressOf = ({ socket }: IncomingMessage): string =>
  (socket.remoteAddress ?? '').replace('::ffff:', '')

const sendEvents = (response: ServerResponse, from: string, everyMs: number): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  let sent = 0
  const send = (): void => {
    sent += 1
    response.write(`id: ${sent}\ndata: ${JSON.stringify({ pod, from, sent })}\n\n`)
  }
  send()
  const timer = setInterval(send, everyMs)
  response.once('close', () => {
    clearInterval(timer)
  })
}

const server = createServer((request, response) => {
  const { method, url = '/', headers } = request
  if (url.startsWith('/events')) {
    sendEvents(response, addressOf(request), numberIn(url))
    return
  }
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.once('end', () => {
    const received = JSON.stringify({
      pod,
      from: addressOf(request),
      method,
      url,
      headers,
      body: String(Buffer.concat(chunks)),
    })
    const reply = (): void => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(`${received}\n`)
    }
    if (url.startsWith('/slow')) setTimeout(reply, numberIn(url))
    else reply()
  })
})

/** RFC 6455 §1.3. */
const acceptOf = (key = ''): string =>
  createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')

const CLOSE = 8

/** RFC 6455 §5.2. Clients of tests mask their frames, and send none of more than 125 bytes. */
const echoFrames = (socket: Duplex): void => {
  let rest: Buffer = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk])
    for (;;) {
      const [first, second] = rest
      if (first === undefined || second === undefined) return
      const end = 6 + (second & 0x7f)
      if (rest.length < end) return
      const mask = rest.subarray(2, 6)
      const payload = rest.subarray(6, end).map((byte, index) => byte ^ (mask[index % 4] ?? 0))
      socket.write(Buffer.concat([Buffer.from([first, payload.length]), payload]))
      if ((first & 0x0f) === CLOSE) socket.end()
      rest = rest.subarray(end)
    }
  })
}

server.on('upgrade', ({ headers }: IncomingMessage, socket) => {
  socket.on('error', () => undefined)
  socket.write(
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
      `Sec-WebSocket-Accept: ${acceptOf(headers['sec-websocket-key'])}\r\n\r\n`,
  )
  echoFrames(socket)
})

server.listen(8080, () => {
  process.stdout.write(`${pod} listens\n`)
})

process.once('SIGTERM', () => {
  if (argv[2] === 'abrupt') process.exit(0)
  process.stdout.write(`${pod} ends\n`)
  server.close(() => process.exit(0))
})
