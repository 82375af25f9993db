// A process that stands still hears of its timers before it looks at its sockets: what has arrived by then is in time.

import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, it } from '@jest/globals'
import { collectBody, StreamedBody } from '../../dataplane/actions/forward/incoming-body.ts'
import { readBody } from '../../dataplane/http/request/body.ts'
import { createUnboundedMemory } from '../../dataplane/memory/memory-budget.ts'

const isScarce = (): boolean => false
const limits = { maxBytes: 10, readBytes: 10, readMs: 100 }

const memory = createUnboundedMemory().open()

type Told = (outcome: unknown) => void

it.each<[string, (request: IncomingMessage, told: Told) => unknown]>([
  [
    'read',
    (request, told) => {
      readBody(request, { limits, declaredLength: 4, holding: memory }, (fault, bytes) => {
        told(fault ?? bytes.toString())
      })
    },
  ],
  [
    'collected to be forwarded',
    (request, told) =>
      collectBody(request, { limits, memory, isScarce, onError: told }, (bytes) => {
        told(bytes.toString())
      }),
  ],
  [
    'streamed',
    (request, told) => {
      const options = { limits, keepBytes: 0, memory, isScarce, onError: told }
      const stream = new StreamedBody(request, options).open()
      text(stream).then(told, told)
    },
  ],
])('a body that is %s and arrives while the process stands still is in time', async (_, take) => {
  const { promise, resolve } = Promise.withResolvers<unknown>()
  const server = createServer((request) => {
    take(request, resolve)
    setImmediate(() => {
      client.write('body')
      // Real time is the subject: more than the body has, and yet one tick of the deadlines.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 150)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n')
  expect(await promise).toBe('body')
  client.destroy()
  server.close()
  await once(server, 'close')
})
