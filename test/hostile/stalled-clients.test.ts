// Clients that ask and never read: what waits for them must not wait for ever, whatever they send meanwhile. Clients
// that are slow, or that wait for us, are left alone.

import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { createPlainServer } from '../../dataplane/listen/http-server.ts'
import { roundTrip } from '../dataplane/round-trip.ts'
import { stopTimers } from '../dataplane/stop-timers.ts'
import { eventually } from '../support/eventually.ts'
import { request } from '../support/http-request.ts'

stopTimers()

const LIMITS = {
  maxHeaderBytes: 16_384,
  maxConnections: 100,
  headersTimeoutSeconds: 10,
  requestTimeoutSeconds: 0,
  keepAliveSeconds: 60,
}
const STALLS = { stallMs: 60_000, sweepMs: 5000 }
const LARGE = Buffer.alloc(20_000_000, 'x')

let server: ReturnType<typeof createPlainServer>
let answering: (response: ServerResponse) => void
let connections: () => Promise<number>
let isScarce: boolean

const listen = async (limits: object = {}): Promise<void> => {
  isScarce = false
  server = createPlainServer(
    { ...LIMITS, stalls: STALLS, ...limits },
    {
      onRequest: ({ url }, response) => {
        if (url === '/another') response.end('served')
        else answering(response)
      },
      isScarce: () => isScarce,
      onClientError: (_, socket) => socket.end('HTTP/1.1 408 Request Timeout\r\n\r\n'),
    },
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  connections = () =>
    new Promise((resolve) => {
      server.getConnections((_, count) => {
        resolve(count)
      })
    })
}

const close = async (): Promise<void> => {
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
}

beforeEach(listen)

afterEach(close)

const port = (): number => (server.address() as AddressInfo).port

const ask = async (): Promise<Socket> => {
  const socket = connect(port(), '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await once(socket, 'connect')
  return socket
}

const pass = (ms: number): void => {
  jest.advanceTimersByTime(ms)
}

const expectAnotherServed = async (): Promise<void> => {
  const { text } = await request(`http://127.0.0.1:${port()}/another`)
  expect(text).toBe('served')
}

const expectCutOff = (): Promise<void> =>
  eventually(async () => {
    expect(await connections()).toBe(0)
  })

/** The connection of a response that bytes wait for, and that the kernel takes no more of. */
const stalling = async (responses: readonly ServerResponse[]): Promise<Socket> => {
  let before = -1
  return eventually(async () => {
    const socket = responses[0]?.socket
    const waiting = socket?.writableLength ?? 0
    const isStill = waiting > 0 && waiting === before
    before = waiting
    await roundTrip()
    if (socket === undefined || socket === null || !isStill) throw new Error('it does not stall')
    return socket
  })
}

const answerWith = (write: (response: ServerResponse) => void): readonly ServerResponse[] => {
  const responses: ServerResponse[] = []
  answering = (response) => {
    responses.push(response)
    write(response)
  }
  return responses
}

const pour = (response: ServerResponse): void => {
  const more = (): void => {
    while (!response.destroyed && response.write(LARGE.subarray(0, 65_536)));
  }
  response.on('drain', more)
  more()
}

describe('a client that reads nothing', () => {
  it.each<[string, (response: ServerResponse) => void]>([
    ['a response', (response) => response.end(LARGE)],
    ['a stream', pour],
  ])('is cut off, whatever it sends: %s', async (_, write) => {
    const responses = answerWith(write)
    const client = await ask()
    const near = await stalling(responses)
    const ends: boolean[] = []
    responses[0]?.once('close', () => ends.push(responses[0]?.writableFinished ?? true))
    for (let second = 0; second < 55; second += 5) {
      const read = near.bytesRead
      client.write('\r\n')
      await eventually(() => {
        expect(near.bytesRead).toBeGreaterThan(read)
      })
      pass(5000)
    }
    expect(near.destroyed).toBe(false)
    pass(10_000)
    await expectCutOff()
    await eventually(() => {
      expect(ends).toEqual([false])
    })
    client.destroy()
    await expectAnotherServed()
  })

  it('and sends blank lines between requests is not idle for ever', async () => {
    answerWith((response) => response.end('x'))
    const client = await ask()
    await once(client, 'data')
    for (let second = 0; second < 70; second += 5) {
      client.write('\r\n')
      await roundTrip()
      pass(5000)
    }
    expect(await connections()).toBe(1)
    pass(10_000)
    await expectCutOff()
    client.destroy()
    await expectAnotherServed()
  })
})

describe('a client that reads slowly', () => {
  it.each([
    ['all is there', false],
    ['memory is short', true],
  ])('gets everything: %s', async (_, scarce) => {
    isScarce = scarce
    const responses = answerWith((response) => response.end(LARGE))
    const client = await ask()
    await stalling(responses)
    let bytes = 0
    client.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      client.pause()
      // Of what it takes we hear in bursts of a megabyte, so large are the kernel's buffers here.
      pass(1000)
      setImmediate(() => client.resume())
    })
    await eventually(() => {
      expect(bytes).toBeGreaterThan(LARGE.length)
    })
    client.destroy()
  })

  it('may halt for 30 s, also while memory is short', async () => {
    isScarce = true
    const responses = answerWith((response) => response.end(LARGE))
    const client = await ask()
    await stalling(responses)
    pass(30_000)
    let bytes = 0
    client.on('data', (chunk: Buffer) => (bytes += chunk.length))
    await eventually(() => {
      expect(bytes).toBeGreaterThan(LARGE.length)
    })
    client.destroy()
  })
})

describe('a client that waits for us', () => {
  it.each([
    ['all is there', false],
    ['memory is short', true],
  ])('is not stalled, also after it was: %s', async (_, scarce) => {
    isScarce = scarce
    const responses = answerWith((response) => response.write(LARGE))
    const client = await ask()
    const near = await stalling(responses)
    pass(50_000)
    let text = ''
    client.on('data', (chunk: Buffer) => (text = `${text}${chunk.toString('latin1')}`.slice(-100)))
    await eventually(() => {
      expect(near.writableLength).toBe(0)
    })
    // Ten minutes without an event.
    pass(600_000)
    responses[0]?.end('the end')
    await eventually(() => {
      expect(text).toContain('the end')
    })
    client.destroy()
  })

  it('with a request behind another is not late while we do not read its body', async () => {
    await close()
    await listen({ headersTimeoutSeconds: 0.05, requestTimeoutSeconds: 0.05, checkMs: 10 })
    let timeouts = 0
    server.on('clientError', ({ code }: NodeJS.ErrnoException) => {
      if (code === 'ERR_HTTP_REQUEST_TIMEOUT') timeouts++
    })
    const responses = answerWith(({ req }) => void req.resume())
    const client = await ask()
    let text = ''
    client.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
    client.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${LARGE.length}\r\n\r\n`)
    client.write(LARGE)
    await eventually(() => {
      expect(timeouts).toBe(1)
    })
    responses[0]?.end('first')
    await eventually(() => {
      expect(responses[1]?.req.complete).toBe(true)
    })
    responses[1]?.end('second')
    await eventually(() => {
      expect(text.match(/first|second| 4\d\d /g)).toEqual(['first', 'second'])
    })
    client.destroy()
  })
})
