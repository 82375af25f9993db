// Streams of events that an upstream sends, passed through: known while they last, ended in order when the gateway
// goes; what looks like one and may not be cut stays.

import { afterEach, beforeEach, expect, it } from '@jest/globals'
import type { ByteSink, StreamHead } from '../../../../dataplane/actions/performer.ts'
import { createEventStreams, type EventStreams } from '../../../../dataplane/http/sse/registry.ts'
import { eventually } from '../../../support/eventually.ts'
import { type EventClient, openEventClient } from './event-client.ts'
import { apiOf, serveGateway, type ServedGateway } from '../served-gateway.ts'

let gateway: ServedGateway
let streams: EventStreams
let sinks: (ByteSink | undefined)[]
let cancelled: number
let headers: StreamHead['headers']
const clients: EventClient[] = []

const EVENTS = ['content-type', 'text/event-stream'] as const

beforeEach(async () => {
  sinks = []
  cancelled = 0
  headers = [EVENTS]
  streams = createEventStreams()
  gateway = await serveGateway({
    eventStreams: streams,
    forward: (exchange) => {
      exchange.onCancel(() => cancelled++)
      sinks.push(exchange.stream({ statusCode: 200, headers, hasBody: true }))
    },
  })
  await gateway.load(apiOf({ '/events': { get: { action: { type: 'forward', host: 'a' } } } }))
})

afterEach(async () => {
  for (const client of clients.splice(0)) await client[Symbol.asyncDispose]()
  await gateway[Symbol.asyncDispose]()
})

const open = async (path = '/events'): Promise<EventClient> => {
  const client = await openEventClient(gateway.address, { path })
  clients.push(client)
  return client
}

/** An open one, of which the client has seen `text`. */
const openWith = async (text: string): Promise<EventClient> => {
  const client = await open()
  await eventually(() => {
    expect(sinks).toHaveLength(1)
  })
  sinks[0]?.write(Buffer.from(text))
  await eventually(() => {
    expect(client.body).toBe(text)
  })
  return client
}

it.each([
  ['plainly', 'text/event-stream'],
  ['with a parameter', 'Text/Event-Stream ; charset=utf-8'],
])('ends in order when the gateway goes, and the upstream is let go: %s', async (_, type) => {
  headers = [['content-type', type]]
  const client = await openWith('data: 1\n\ndata: ha')
  expect(streams.size).toBe(1)
  streams.endAll()
  await eventually(() => {
    expect(client.received?.isWhole).toBe(true)
    expect(client.isClosed).toBe(true)
    expect(streams.size).toBe(0)
  })
  expect(cancelled).toBe(1)
  expect(gateway.statuses).toEqual([200])
  expect(gateway.log).toMatchObject([{ bytes: 17 }])
})

it('is the last on its connection, so that no client sends another into its end', async () => {
  const client = await openWith('data: 1\n\n')
  expect(client.received?.headers['connection']).toBe('close')
})

it('one that opens while the gateway goes ends at once, and its upstream is released', async () => {
  streams.endAll()
  const client = await open()
  await eventually(() => {
    expect(client.received).toMatchObject({ status: 200, body: '', isWhole: true })
  })
  expect(sinks).toEqual([undefined])
  expect(streams.size).toBe(0)
})

it.each([
  ['the upstream ends it', (sink: ByteSink | undefined) => sink?.end()],
  ['it is cut off', (sink: ByteSink | undefined) => sink?.destroy(new Error('gone'))],
  ['the client goes', (_: unknown, client: EventClient) => client.socket.destroy()],
])('is forgotten when %s', async (_, end) => {
  const client = await openWith('data: 1\n\n')
  end(sinks[0], client)
  await eventually(() => {
    expect(streams.size).toBe(0)
    expect(gateway.statuses).toEqual([200])
  })
})

it.each<[string, StreamHead['headers']]>([
  ['has a length', [EVENTS, ['content-length', '100']]],
  ['is compressed', [EVENTS, ['content-encoding', 'gzip']]],
  ['is something else', [['content-type', 'text/event-stream-archive']]],
  ['says nothing', []],
])('what %s is not cut', async (_, sent) => {
  headers = sent
  const client = await openWith('data: 1\n\n')
  streams.endAll()
  sinks[0]?.write(Buffer.from('more'))
  await eventually(() => {
    expect(client.body).toBe('data: 1\n\nmore')
  })
  expect(client.received?.headers['connection']).not.toBe('close')
  expect([streams.size, cancelled]).toEqual([0, 0])
})
