// Instances of one upstream on loopback addresses that share a port, and a name that stands for them.

import { createServer, type RequestListener, type Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Resolve } from '../../../dataplane/name-lookup.ts'
import { freePort } from '../../support/free-port.ts'

export interface Instance {
  readonly address: string
  /** Requests that it got. */
  served: number
  /** Connections that were opened to it, all in all. */
  opened: number
  readonly open: () => number
  /** 200 with its address if left out. */
  behave: RequestListener | undefined
  /** Its connections are cut, and new ones refused. */
  stop(): Promise<void>
  start(): Promise<void>
}

export interface Instances {
  readonly origin: string
  readonly port: number
  readonly all: readonly Instance[]
  /** What the name stands for at present; an error code: the lookup fails; undefined: it is never answered. */
  response: readonly string[] | string | undefined
  readonly lookups: () => number
  readonly resolve: Resolve
  close(): Promise<void>
}

/** At 127.0.0.1, 127.0.0.2, … */
export const startInstances = async (count: number): Promise<Instances> => {
  const addresses = Array.from({ length: count }, (_, index) => `127.0.0.${index + 1}`)
  const port = await freePort(addresses)
  const all = addresses.map((address) => createInstance(address, port))
  await Promise.all(all.map((each) => each.start()))
  return named(all, port)
}

const named = (all: readonly Instance[], port: number): Instances => {
  let lookups = 0
  const instances: Instances = {
    origin: `http://up.test:${port}`,
    port,
    all,
    response: all.map(({ address }) => address),
    lookups: () => lookups,
    resolve: (_name, _options, callback) => {
      lookups++
      const { response } = instances
      if (response === undefined) return
      // Not at once, as names are.
      setImmediate(() => {
        if (typeof response === 'string')
          callback(Object.assign(new Error(response), { code: response }), [])
        else
          callback(
            null,
            response.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
          )
      })
    },
    close: async () => {
      await Promise.all(all.map((each) => each.stop()))
    },
  }
  return instances
}

const createInstance = (address: string, port: number): Instance => {
  const sockets = new Set<Socket>()
  let server: Server | undefined
  const listen = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const opening = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
        instance.served++
        if (instance.behave === undefined) response.end(address)
        else instance.behave(request, response)
      })
      server = opening
      opening.on('connection', (socket) => {
        instance.opened++
        sockets.add(socket)
        socket.on('close', () => sockets.delete(socket))
      })
      opening.once('error', reject)
      opening.listen(port, address, resolve)
    })
  const instance: Instance = {
    address,
    served: 0,
    opened: 0,
    open: () => sockets.size,
    behave: undefined,
    start: listen,
    stop: () =>
      new Promise<void>((resolve) => {
        if (server?.listening !== true) {
          resolve()
          return
        }
        server.close(() => {
          resolve()
        })
        for (const socket of sockets) socket.destroy()
      }),
  }
  return instance
}
