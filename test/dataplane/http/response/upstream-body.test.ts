// What an upstream sends and what the head has promised, where they differ: the connection ends, and nothing of it is
// ever read as the next response.

import { afterEach, expect, it } from '@jest/globals'
import { createPlainServer } from '../../../../dataplane/listen/http-server.ts'
import { createByteSink } from '../../../../dataplane/http/response/upstream-body.ts'
import { writeFramedHead } from '../../../../dataplane/http/response/write-response.ts'
import { type Content, frameResponse } from '../../../../dataplane/framing.ts'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { BrokenError } from '../../../support/byte-stream.ts'
import { openRawClient, type RawClient } from '../../../support/raw-client.ts'

const LIMITS = {
  maxHeaderBytes: 16_384,
  maxConnections: 100,
  headersTimeoutSeconds: 10,
  requestTimeoutSeconds: 0,
  keepAliveSeconds: 60,
}

const ended: number[] = []
let stop: () => Promise<void>

afterEach(async () => {
  ended.length = 0
  await stop()
})

/** The first request gets `pieces`, the next one `next`. */
const serve = async (content: Content, pieces: readonly string[]): Promise<RawClient> => {
  let isFirst = true
  const server = createPlainServer(LIMITS, {
    onRequest: (request, response) => {
      if (!isFirst) {
        response.end('next')
        return
      }
      isFirst = false
      const framing = frameResponse(200, request.method === 'HEAD', content)
      const sink = createByteSink(response, framing, {
        begin: () => {
          writeFramedHead(response, 200, [], framing)
          return true
        },
        onEnd: (bytes) => ended.push(bytes),
      })
      for (const piece of pieces) sink.write(Buffer.from(piece))
      sink.end()
      sink.end()
    },
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  stop = async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  const { port } = server.address() as AddressInfo
  return openRawClient({ host: '127.0.0.1', port }, 15_000)
}

const requests = (method: string, version = '1.1', more = ''): Buffer[] => [
  Buffer.from(
    `${method} / HTTP/${version}\r\nHost: a\r\n${more}\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n`,
  ),
]

const SEVEN: Content = { kind: 'stream', bytes: 7 }
const UNKNOWN: Content = { kind: 'stream', bytes: undefined }

it.each<[string, string, Content, readonly string[], string]>([
  ['as many as promised, at once', 'GET', SEVEN, ['content'], 'content'],
  ['as many as promised, in pieces', 'GET', SEVEN, ['con', '', 'tent'], 'content'],
  ['none, as promised', 'GET', { kind: 'stream', bytes: 0 }, [], ''],
  ['of unknown length', 'GET', UNKNOWN, ['con', 'tent'], 'content'],
  ['more, after all was sent at once', 'GET', SEVEN, ['content', 'HTTP/1.1 200 OK'], 'content'],
  ['to HEAD, all', 'HEAD', SEVEN, ['content'], ''],
  ['to HEAD, none', 'HEAD', SEVEN, [], ''],
  ['where none may come', 'GET', { kind: 'missing' }, ['content'], ''],
])('%s: the next response is whole', async (...[, method, content, pieces, body]) => {
  await using client = await serve(content, pieces)
  client.send(requests(method))
  expect((await client.response(method === 'HEAD')).body.toString()).toBe(body)
  expect((await client.response()).body.toString()).toBe('next')
  expect(ended).toEqual([body.length])
})

it.each<[string, readonly string[], number]>([
  ['fewer', ['con'], 3],
  ['none', [], 0],
  ['more, in one piece', ['content, HTTP/1.1 200 OK'], 0],
  ['more, in pieces', ['con', 'tents'], 3],
])('%s than promised: cut off', async (_, pieces, bytes) => {
  await using client = await serve(SEVEN, pieces)
  client.send(requests('GET'))
  await expect(client.response()).rejects.toThrow(BrokenError)
  expect(await client.more()).toBe(false)
  expect(ended).toEqual([bytes])
})

it('HTTP/1.0 gets no chunks, even if it asks for them: the end of the connection is the end', async () => {
  await using client = await serve(UNKNOWN, ['con', 'tent'])
  client.send(requests('GET', '1.0', 'Connection: keep-alive, TE\r\nTE: chunked\r\n'))
  const { headers, body } = await client.response()
  expect(headers.map(([name]) => name.toLowerCase())).not.toContain('transfer-encoding')
  expect(body.toString()).toBe('content')
})
