// The floor of the table of events: sockets and nothing else. A client that sends anything gets the head of a
// stream, and with each publication the bytes that the gateway would send.

import { createServer, type Socket } from 'node:net'
import { MESSAGE } from '../../../dataplane/wamp/protocol/messages.ts'
import { ask, joinRouter } from '../raw-session.ts'
import { EVENT_DATA, TOPICS } from '../wamp-documents.ts'

const [port, router = '', realm = ''] = process.argv.slice(2)
const session = await joinRouter(router, realm)
await ask(session, [MESSAGE.subscribe, 1, {}, TOPICS.writer], MESSAGE.subscribed)

const HEAD =
  'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'
const streams = new Set<Socket>()

session.listen(([type, , publicationId]) => {
  if (type !== MESSAGE.event) return
  const text = `id: ${String(publicationId)}\ndata: ${EVENT_DATA}\n\n`
  const chunk = Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`)
  for (const stream of streams) stream.write(chunk)
})

createServer({ noDelay: true }, (socket) => {
  socket.once('data', () => {
    streams.add(socket)
    socket.write(HEAD)
  })
  socket.on('error', () => socket.destroy())
  socket.on('close', () => streams.delete(socket))
}).listen({ port: Number(port), host: '127.0.0.1', backlog: 1024 })
