// WebSockets through a forward of a real gateway, by a library and by a page in a browser: they outlive documents that are
// replaced, and are closed in order with their document and with the gateway.

import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Browser, Page } from 'playwright-core'
import { WebSocket, WebSocketServer } from 'ws'
import { chromiumAvailability, launchChromium, openPage } from '../support/chromium.ts'
import { eventually } from '../support/eventually.ts'
import { startGateway, type GatewayProcess } from '../support/gateway-process.ts'
import { request } from '../support/http-request.ts'
import { describeWhenAvailable } from '../support/when-available.ts'
import { answers, api, forwards, load, post } from './gateway-client.ts'

let server: Server
let sockets: WebSocketServer
let origin: string
/** Codes that the upstream has heard. */
const heard: number[] = []

beforeAll(async () => {
  server = createServer((_, response) => {
    response.setHeader('content-type', 'text/html')
    response.end('<!doctype html><title>chat</title><link rel=icon href=data:,>')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  sockets = new WebSocketServer({ server, perMessageDeflate: true })
  sockets.on('connection', (socket) => {
    socket.on('message', (data, binary) => {
      socket.send(data as Buffer, { binary })
    })
    socket.on('close', (code) => heard.push(code))
  })
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterAll(async () => {
  for (const socket of sockets.clients) socket.terminate()
  sockets.close()
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
})

/** `build` tells one document from the next. */
const chat = (build: number): object =>
  api('chat', {
    '/socket': forwards(origin, '/', { upgrade: ['websocket'] }),
    '/page': forwards(origin, '/'),
    '/build': answers({ build }),
  })

const prepare = async (...flags: readonly string[]): Promise<GatewayProcess> => {
  const gateway = await startGateway({ flags })
  await load(gateway, chat(0))
  return gateway
}

const replaceOften = async (gateway: GatewayProcess): Promise<void> => {
  for (let build = 1; build <= 20; build++) {
    expect((await post(gateway, '/api_specs', chat(build))).status).toBe(204)
    const served = await request(`${gateway.public}/chat/build`)
    expect(served.json()).toEqual({ build })
  }
}

const remove = async (gateway: GatewayProcess): Promise<void> => {
  const { status } = await request(`${gateway.management}/api_specs/chat`, { method: 'DELETE' })
  expect(status).toBe(204)
}

const ENDS: readonly (readonly [string, (gateway: GatewayProcess) => Promise<void>])[] = [
  ['its document is deleted', remove],
  ['the gateway stops', (gateway) => gateway.stop()],
]

describe('a WebSocket of a library', () => {
  const connect = async (gateway: GatewayProcess): Promise<WebSocket> => {
    const socket = new WebSocket(`${gateway.public.replace('http:', 'ws:')}/chat/socket`)
    await once(socket, 'open')
    return socket
  }

  const echoes = async (socket: WebSocket, text: string): Promise<void> => {
    const message = once(socket, 'message')
    socket.send(text)
    const [data] = (await message) as [Buffer]
    expect(data.toString() === text).toBe(true)
  }

  it.each(
    ENDS.flatMap(([name, end]) => [
      [name, 'one process', [], end] as const,
      [name, 'two workers', ['--processes', '2'], end] as const,
    ]),
  )(
    'lives on while its document is replaced, and is closed with 1001 when %s (%s)',
    async (_name, _processes, flags, end) => {
      await using gateway = await prepare(...flags)
      const open = await Promise.all(Array.from({ length: 4 }, () => connect(gateway)))
      const closes = open.map(async (socket) => {
        const [code] = (await once(socket, 'close')) as [number]
        return code
      })
      heard.length = 0
      await replaceOften(gateway)
      for (const socket of open) {
        await echoes(socket, 'still here')
        await echoes(socket, 'x'.repeat(300_000))
      }
      await end(gateway)
      expect(await Promise.all(closes)).toEqual([1001, 1001, 1001, 1001])
      await eventually(() => {
        expect(heard).toEqual([1001, 1001, 1001, 1001])
      })
    },
    60_000,
  )
})

describeWhenAvailable('a WebSocket of a page', chromiumAvailability(), () => {
  let browser: Browser

  beforeAll(async () => {
    browser = await launchChromium()
  }, 120_000)

  afterAll(() => browser.close())

  /** Resolves in the page when it is open. */
  const connect = (page: Page): Promise<unknown> =>
    page.evaluate(`new Promise((resolve, reject) => {
      socket = new WebSocket('ws://' + location.host + '/chat/socket')
      whenClosed = new Promise((resolve) => socket.onclose = ({ code, wasClean }) => resolve([code, wasClean]))
      socket.onopen = () => resolve(socket.extensions)
      socket.onerror = () => reject(new Error('it does not open'))
    })`)

  const ask = (page: Page, text: string): Promise<unknown> =>
    page.evaluate(`new Promise((resolve) => {
      socket.onmessage = ({ data }) => resolve(data)
      socket.send(${JSON.stringify(text)})
    })`)

  it.each(ENDS)(
    'lives on while its document is replaced, and is closed with 1001 when %s',
    async (_, end) => {
      await using gateway = await prepare()
      const { page, complaints } = await openPage(browser, `${gateway.public}/chat/page`)
      expect(await connect(page)).toContain('permessage-deflate')
      const text = 'żółw '.repeat(20_000)
      expect((await ask(page, text)) === text).toBe(true)
      await replaceOften(gateway)
      expect(await ask(page, 'still here')).toBe('still here')
      await end(gateway)
      expect(await page.evaluate('whenClosed')).toEqual([1001, true])
      expect(complaints).toEqual([])
      await page.close()
    },
    120_000,
  )
})
