// Starts a data plane that answers whatever a test makes up, and records what it was asked. Where a test says nothing
// it answers as an empty gateway that takes everything.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { rootDigest } from '../../../language/wire/digest.ts'
import type { SyncItem, SyncRequest } from '../../../language/wire/wire.ts'

export type Call = 'state' | 'sync' | 'source' | 'realms'

export interface Asked {
  readonly call: Call
  readonly request: IncomingMessage
  readonly sync: SyncRequest | undefined
}

export type Respond = (response: ServerResponse, asked: Asked) => void

export interface HostileDataPlane extends AsyncDisposable {
  readonly url: string
  /** What it was asked so far. */
  readonly asked: readonly Call[]
  /** From now on; a call that is not named is answered as by an empty gateway. */
  responses: Readonly<Partial<Record<Call, Respond>>>
}

export const startHostileDataPlane = async (
  responses: HostileDataPlane['responses'],
): Promise<HostileDataPlane> => {
  const asked: Call[] = []
  const sockets = new Set<Socket>()
  const server = createServer((request, response) => {
    void read(request).then((sync) => {
      const call = callOf(request)
      asked.push(call)
      response.on('error', () => undefined)
      const respond = plane.responses[call] ?? USUAL[call]
      respond(response, { call, request, sync })
    })
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const plane: HostileDataPlane = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    responses,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
  return plane
}

const read = async (request: IncomingMessage): Promise<SyncRequest | undefined> => {
  const bytes = await buffer(request).catch(() => Buffer.alloc(0))
  if (bytes.length === 0) return undefined
  const isGzip = request.headers['content-encoding'] === 'gzip'
  return JSON.parse((isGzip ? gunzipSync(bytes) : bytes).toString()) as SyncRequest
}

const callOf = ({ url = '' }: IncomingMessage): Call => {
  if (url === '/api_specs?view=state') return 'state'
  if (url === '/api_specs/_sync') return 'sync'
  return url.startsWith('/realms') ? 'realms' : 'source'
}

/** @param more members that are added to, or take the place of, those of an empty gateway */
export const stateOf = (more: object = {}): object => ({
  bootId: 'boot',
  version: 1,
  manager: 'svc-operator',
  epoch: 0,
  complete: false,
  rootDigest: rootDigest([]),
  specs: {},
  realms: {},
  ...more,
})

export const json =
  (value: unknown, status = 200): Respond =>
  (response) => {
    sendText(JSON.stringify(value), status)(response)
  }

export const sendText =
  (text: string, status = 200): ((response: ServerResponse) => void) =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(text)
  }

/** As fast as it is read, until it is not read any more. */
export const endless =
  (part: string, { start = '', status = 200, bytes = Infinity } = {}): Respond =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.write(start)
    const chunk = part.repeat(Math.ceil(65_536 / part.length))
    let left = bytes
    const pour = (): void => {
      while (!response.destroyed && left > 0) {
        left -= chunk.length
        if (!response.write(chunk)) {
          response.once('drain', pour)
          return
        }
      }
      response.end()
    }
    pour()
  }

const itemsOf = ({ realms, specs }: SyncRequest, result: SyncItem['result']): SyncItem[] => [
  ...(realms?.put ?? []).map(({ uri }): SyncItem => itemOf('realm', uri, result)),
  ...(specs?.put ?? []).map(({ id }): SyncItem => itemOf('spec', id, result)),
]

const itemOf = (kind: SyncItem['kind'], id: string, result: SyncItem['result']): SyncItem => ({
  kind,
  id,
  result,
  errors: [],
  warnings: [],
})

/** Says of everything that it was sent the same. */
export const allItems = (sync: SyncRequest | undefined, result: SyncItem['result']): SyncItem[] =>
  sync === undefined ? [] : itemsOf(sync, result)

const USUAL: Readonly<Record<Call, Respond>> = {
  state: json(stateOf()),
  sync: (response, asked) => {
    const items = allItems(asked.sync, 'loaded')
    json({ rootDigest: rootDigest([]), items })(response, asked)
  },
  source: json({}),
  realms: json([]),
}
