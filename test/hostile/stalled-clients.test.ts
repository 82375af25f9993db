// Clients that ask and never read: what waits for them must not wait for ever. Clients that are slow, or
// that wait for us, are left alone.

import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals'
import { createPlainServer } from '../../dataplane/http-server.ts'
import { stopTimers } from '../dataplane/stop-timers.ts'
import { eventually } from '../support/eventually.ts'

stopTimers()

const LIMITS = {
  maxHeaderBytes: 16_384,
  maxConnections: 100,
  headersTimeoutSeconds: 10,
  requestTimeoutSeconds: 0,
  keepAliveSeconds: 60,
}
// Longer than anything here takes: the tests end it.
const STALLS = { stallMs: 60_000, sweepMs: 5000 }
const LARGE = Buffer.alloc(20_000_000, 'x')

let server: ReturnType<typeof createPlainServer>
let answering: ((response: ServerResponse) => void) | undefined
let connections: () => Promise<number>

const listen = async (): Promise<void> => {
  const onRequest = (_: unknown, response: ServerResponse) => answering?.(response)
  server = createPlainServer({ ...LIMITS, stalls: STALLS }, { onRequest })
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

const ask = async (): Promise<Socket> => {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await once(socket, 'connect')
  return socket
}

const sweep = (): void => {
  jest.advanceTimersByTime(STALLS.sweepMs)
}

/** The connection of an answer, once bytes wait on it and it has been looked at. */
const stalling = (answers: readonly ServerResponse[]): Promise<Socket> =>
  eventually(() => {
    sweep()
    const socket = answers[0]?.socket
    if (socket?.timeout !== STALLS.stallMs) throw new Error('it does not stall yet')
    return socket
  })

it('a client that reads nothing is cut off', async () => {
  const answers: ServerResponse[] = []
  answering = (response) => {
    answers.push(response.end(LARGE))
  }
  const client = await ask()
  const near = await stalling(answers)
  near.setTimeout(1)
  await eventually(async () => {
    expect(await connections()).toBe(0)
  })
  client.destroy()
})

it('a stream to it ends too, so that its upstream is let go', async () => {
  const answers: ServerResponse[] = []
  const closed: boolean[] = []
  answering = (response) => {
    answers.push(response)
    response.once('close', () => closed.push(response.writableFinished))
    const pour = (): void => {
      while (!response.destroyed && response.write(LARGE.subarray(0, 65_536)));
    }
    response.on('drain', pour)
    pour()
  }
  const client = await ask()
  const near = await stalling(answers)
  near.setTimeout(1)
  await eventually(() => {
    expect(closed).toEqual([false])
  })
  client.destroy()
})

it('a client that reads slowly gets everything', async () => {
  const answers: ServerResponse[] = []
  answering = (response) => {
    answers.push(response.end(LARGE))
  }
  const client = await ask()
  await stalling(answers)
  let bytes = 0
  client.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    client.pause()
    sweep()
    setImmediate(() => client.resume())
  })
  await eventually(() => {
    expect(bytes).toBeGreaterThan(LARGE.length)
  })
  client.destroy()
})

it('a client that waits for us is not stalled, also after it was', async () => {
  const answers: ServerResponse[] = []
  answering = (response) => {
    answers.push(response)
    response.write(LARGE)
  }
  const client = await ask()
  const near = await stalling(answers)
  let text = ''
  client.on('data', (chunk: Buffer) => (text = `${text}${chunk.toString('latin1')}`.slice(-100)))
  await eventually(() => {
    expect(near.writableLength).toBe(0)
  })
  near.setTimeout(1)
  await once(server, 'timeout')
  answers[0]?.end('the end')
  await eventually(() => {
    expect(text).toContain('the end')
  })
  client.destroy()
})
