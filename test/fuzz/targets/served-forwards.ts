// A whole serving process behind a real listener for targets of the fuzzer, which forwards to an upstream that the
// target speaks for, byte by byte.

import { once } from 'node:events'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { readGatewaySettings } from '../../../dataplane/config.ts'
import { createPlainServer } from '../../../dataplane/listen/http-server.ts'
import { createServingParts } from '../../../dataplane/start/serving-parts.ts'
import { packDocument } from '../../../dataplane/store/packed/pack.ts'
import { compile } from '../../../language/compile.ts'
import { createLog } from '../../../telemetry/log.ts'
import { type Address, openRawClient, type RawClient } from '../../support/raw-client.ts'
import { servingHome } from '../../support/serving-home.ts'

export interface ServedForwards {
  /** A connection to the gateway. A conversation on it that takes longer than 8 s hangs. */
  connect(): Promise<RawClient>
  /** Lines of the log since it was last asked: faults that the gateway did not expect. */
  unexpected(): readonly string[]
  close(): Promise<void>
}

/** No response within this time is none. */
const HANGS_MS = 8000
/** Heads and requests that do not come to an end are refused soon, so that a case costs little. */
const LIMITS = { headersTimeoutSeconds: 1, requestTimeoutSeconds: 1, checkMs: 100 }

/** @param pathsTo the `paths` of a document at the root of every host, given the URL of the upstream */
export const serveForwards = async (
  pathsTo: (upstream: string) => object,
  onConnection: (socket: Socket) => void,
): Promise<ServedForwards> => {
  const upstream = await listening(createServer({ noDelay: true }, onConnection))
  const parsed = readGatewaySettings([], {})
  if (parsed.kind !== 'settings') throw new Error(JSON.stringify(parsed))
  const faults: string[] = []
  const log = createLog({
    level: 'error',
    name: 'fuzz',
    destination: { write: (line) => faults.push(line) },
  })
  const parts = createServingParts({
    settings: parsed.settings,
    log,
    writeLines: () => undefined,
    home: servingHome(),
  })
  await parts.serving.apply({
    put: [packed(pathsTo(`http://127.0.0.1:${upstream.address.port}`))],
    remove: [],
    realms: { put: [{ uri: 'com.acme', call_timeout: 3000 }], delete: [] },
  })
  const gateway = await listening(
    createPlainServer({ ...parsed.settings, ...LIMITS }, parts.publicHandlers('http')),
  )
  return {
    connect: () => openRawClient(gateway.address, HANGS_MS),
    unexpected: () => faults.splice(0),
    close: async () => {
      await gateway.close()
      await upstream.close()
      await parts.close()
    },
  }
}

const packed = (paths: object) => {
  const versions = { v1: { base_path: '/', pool_size: 20, paths } }
  const document = { id: 'fuzz', host: '_', realm_uri: 'com.acme', versions }
  const outcome = compile(document, { realm: () => ({ authmethods: [], oidcProviders: [] }) })
  if ('problems' in outcome) throw new Error(JSON.stringify(outcome.problems))
  return packDocument(outcome.compiled, { since: 0, rank: 0 })
}

interface Listening {
  readonly address: Address
  close(): Promise<void>
}

const listening = async (server: Server): Promise<Listening> => {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    // Resets are what is to be expected.
    socket.on('error', () => undefined)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    address: { host: '127.0.0.1', port },
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve()
        })
        for (const socket of sockets) socket.destroy()
      }),
  }
}
