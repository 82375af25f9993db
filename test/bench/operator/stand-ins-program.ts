// A manager's name and how many on the command line; so many stand-ins for data planes, each with a management
// address of its own on loopback. The process that started it asks over IPC what has come to them.

import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { SharedTransitions, StandIn } from './stand-in.ts'
import type { Asked, ReceivedCall, Told } from './stand-ins.ts'

/** As a gateway: longer than between two polls. */
const KEEP_ALIVE_MS = 65_000

const [manager = '', count = ''] = process.argv.slice(2)

/** By id and digest. */
const arrivals = new Map<string, { count: number; firstAtMs: number; lastAtMs: number }>()

const onTaken = (id: string, digest: string, atMs: number): void => {
  const key = `${id}\t${digest}`
  const arrival = arrivals.get(key) ?? { count: 0, firstAtMs: atMs, lastAtMs: 0 }
  arrival.count += 1
  arrival.lastAtMs = atMs
  arrivals.set(key, arrival)
}

const readBody = (request: IncomingMessage): Promise<Buffer> =>
  request.method === 'POST' ? buffer(request) : Promise.resolve(Buffer.alloc(0))

const serve = (standIn: StandIn): Server =>
  createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    const { method = '', url = '', headers } = request
    readBody(request).then(
      (body) => {
        const { status, etag, text } = standIn.answer({
          method,
          path: url.split('?')[0] ?? '',
          body,
          etag: headers['if-none-match'],
          isGzip: headers['content-encoding'] === 'gzip',
          atMs: performance.timeOrigin + performance.now(),
        })
        response.writeHead(status, {
          'content-type': 'application/json',
          ...(etag !== undefined && { etag }),
        })
        response.end(text)
      },
      // Broken off by the caller.
      () => response.destroy(),
    )
  })

const listen = async (server: Server, ip: string): Promise<{ ip: string; port: number }> => {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, ip, resolve)
  })
  return { ip, port: (server.address() as AddressInfo).port }
}

/** 250 in each network of 256. */
const addressOf = (index: number): string =>
  `127.0.${1 + Math.floor(index / 250)}.${1 + (index % 250)}`

const shared = new SharedTransitions()
const standIns = Array.from(
  { length: Number(count) },
  (_, index) => new StandIn(`stand-in-${index}`, { manager, shared, onTaken }),
)

const arrivalOf = (key: string): ReceivedCall => {
  const { count: planes, firstAtMs, lastAtMs } = arrivals.get(key) ?? NO_ARRIVAL
  return { planes, firstAtMs, lastAtMs }
}

const NO_ARRIVAL = { count: 0, firstAtMs: 0, lastAtMs: 0 }

const answer = (asked: Asked): Told['response'] => {
  switch (asked.ask) {
    case 'facts':
      return standIns.map(({ facts }) => facts)
    case 'arrivals':
      return asked.keys.map(arrivalOf)
    case 'mark':
      arrivals.clear()
      for (const standIn of standIns) standIn.mark()
      return []
    case 'restart':
      for (const index of asked.planes) standIns[index]?.restart()
      return []
  }
}

const tell = (told: Told): void => {
  process.send?.(told)
}

const addresses = []
for (const [index, standIn] of standIns.entries()) {
  addresses.push(await listen(serve(standIn), addressOf(index)))
}
process.on('message', (message) => {
  const asked = message as Asked
  tell({ turn: asked.turn, response: answer(asked) })
})
process.on('disconnect', () => process.exit(0))
tell({ turn: 0, response: addresses })
