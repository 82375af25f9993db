// Clients that open connections and do not finish what they say: they are let go in time, and cost the
// others nothing.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { startGateway, type GatewayProcess } from '../support/gateway-process.ts'
import { request } from '../support/http-request.ts'
import { addressOf, openRawClient, type RawClient } from '../support/raw-client.ts'
import { answers, load, REALM } from './gateway-client.ts'

let gateway: GatewayProcess

beforeAll(async () => {
  // Honest heads have as long: a second is over before a gateway that is held up has read one.
  gateway = await startGateway({ flags: ['--headers-timeout-seconds', '5'] })
  await load(gateway, {
    id: 'body',
    host: '_',
    realm_uri: REALM,
    versions: {
      v1: {
        base_path: '/body',
        paths: {
          '/read': {
            body_read_seconds: 1,
            post: answers({ b: '{{request.body}}' }),
            get: answers('fine'),
          },
          '/small': { body_max_bytes: 100, post: answers({ b: '{{request.body}}' }) },
        },
      },
    },
  })
})

afterAll(() => gateway.stop())

const open = async (...parts: readonly (string | number)[]): Promise<RawClient> => {
  const client = await openRawClient(addressOf(gateway.public), 45_000)
  client.send(
    parts.map((part) => (typeof part === 'number' ? { pauseMs: part } : Buffer.from(part))),
  )
  return client
}

const readFine = async (): Promise<string> => (await request(`${gateway.public}/body/read`)).text

const FINE = '"fine"'

const POST = 'POST /body/read HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n'

describe('a client that sends a byte now and then', () => {
  it.concurrent('in its head: let go, with 408 or without a word', async () => {
    const drops = Array.from({ length: 80 }, (_, i) => [`X-${i}: 1\r\n`, 250]).flat()
    await using client = await open('GET /body/read HTTP/1.1\r\n', 250, ...drops)
    expect(await readFine()).toBe(FINE)
    const bytes = await client.stream.takeToEnd()
    expect(bytes.toString()).toMatch(/^$|^HTTP\/1\.1 408 /)
  })

  it.concurrent('in a body with a length: 408, and the connection ends', async () => {
    const drops = Array.from({ length: 20 }, () => ['1', 200]).flat()
    await using client = await open(`${POST}Content-Length: 1000\r\n\r\n`, ...drops)
    const response = await client.response()
    expect(response.status).toBe(408)
    expect(JSON.parse(response.body.toString())).toMatchObject({
      code: 'svc.error.request_timeout',
    })
    expect(await client.more()).toBe(false)
    expect(await readFine()).toBe(FINE)
  })

  it.concurrent('in a chunked body: 408', async () => {
    const drops = Array.from({ length: 20 }, () => ['1\r\n1\r\n', 200]).flat()
    await using client = await open(`${POST}Transfer-Encoding: chunked\r\n\r\n`, ...drops)
    expect((await client.response()).status).toBe(408)
    expect(await readFine()).toBe(FINE)
  })
})

it('a body that is too large is refused before it has come', async () => {
  const head =
    'POST /body/small HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 1000000000\r\n\r\n'
  await using client = await open(head, '[')
  const response = await client.response()
  expect(response.status).toBe(413)
  expect(JSON.parse(response.body.toString())).toMatchObject({
    code: 'svc.error.payload_too_large',
  })
})

it('500 connections that say nothing, or half of something, keep no client waiting', async () => {
  const clients = await Promise.all(
    Array.from({ length: 500 }, (_, i) =>
      i % 2 === 0 ? open() : open(`${POST}Content-Length: 9\r\n\r\n[1`),
    ),
  )
  for (let i = 0; i < 20; i += 1) expect(await readFine()).toBe(FINE)
  for (const client of clients) client.close()
  expect(await readFine()).toBe(FINE)
})

it('clients that hang up in the middle of anything leave nothing behind', async () => {
  const beginnings = [
    '',
    'GE',
    'GET /body/read HTTP/1.1\r\nHost',
    `${POST}Content-Length: 9\r\n\r\n`,
    `${POST}Content-Length: 9\r\n\r\n[1`,
  ]
  const hangUp = async (beginning: string): Promise<void> => {
    const client = await open(beginning)
    await client.more(1)
    client.close()
  }
  await Promise.all(Array.from({ length: 20 }, () => beginnings.map(hangUp)).flat())
  expect(await readFine()).toBe(FINE)
  expect(gateway.logs().join('\n')).not.toMatch(/uncaught|unhandled|TypeError/i)
})
