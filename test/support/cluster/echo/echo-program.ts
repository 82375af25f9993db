// Runs an application of tests in a pod: it answers requests on port 8080 with what they were, from where, and to which
// pod. `/slow/MS` answers after that time, `/events` or `/events/MS` are server-sent events without end, one every MS
// (100), `/ready` is 200. On SIGTERM it ends what runs and then itself; with the argument `abrupt`, at once.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { hostname } from 'node:os'
import { argv } from 'node:process'

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

server.listen(8080, () => {
  process.stdout.write(`${pod} listens\n`)
})

process.once('SIGTERM', () => {
  if (argv[2] === 'abrupt') process.exit(0)
  process.stdout.write(`${pod} ends\n`)
  server.close(() => process.exit(0))
})
