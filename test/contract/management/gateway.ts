// A management listener on loopback with a store whose serving only records: what contract tests talk to.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createManagementApp, type ManagementDeps } from '../../../dataplane/management/app.ts'
import { allowAll } from '../../../dataplane/management/credentials.ts'
import { Readiness } from '../../../dataplane/management/readiness.ts'
import type { StoreOptions } from '../../../dataplane/store/store.ts'
import {
  ServiceDirectory,
  type ReportedEndpoints,
} from '../../../dataplane/upstream/endpoints/service-directory.ts'
import type { ErrorRecord } from '../../../language/wire/wire.ts'
import { createSilentLog } from '../../../telemetry/log.ts'
import { makeRig, REALM, type Rig } from '../../dataplane/store/rig.ts'

export interface ManagementResponse {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body as JSON; undefined when there is none. */
  readonly json: unknown
  /** The body as an error record. */
  readonly record: ErrorRecord & Readonly<Record<string, unknown>>
}

export interface Gateway extends AsyncDisposable, Rig {
  readonly url: string
  readonly readiness: Readiness
  send(method: string, path: string, options?: Sending): Promise<ManagementResponse>
}

interface Sending {
  readonly json?: unknown
  readonly body?: string | Uint8Array
  readonly headers?: Readonly<Record<string, string>>
}

export interface GatewayOptions {
  readonly store?: Partial<StoreOptions>
  readonly app?: Partial<ManagementDeps>
}

/** Holds the realm `com.acme` unless it is managed. */
export const startGateway = async ({ store, app }: GatewayOptions = {}): Promise<Gateway> => {
  const readiness = new Readiness({
    isManaged: typeof store?.manager === 'string',
    readyFromSnapshotMs: 0,
    now: () => 0,
  })
  const rig = makeRig({
    ...store,
    observer: {
      synced: (done, items) => {
        readiness.synced(done, items)
      },
    },
  })
  if (rig.store.manager === null) await rig.store.putRealm({ uri: REALM })
  const server = createServer(
    createManagementApp({
      store: rig.store,
      readiness,
      endpoints: toldEndpoints(new ServiceDirectory()),
      authorize: allowAll,
      metrics: (_req, res) => {
        res.setHeader('content-type', 'text/plain; version=0.0.4')
        res.end('# TYPE up gauge\nup 1\n')
      },
      log: createSilentLog(),
      ...app,
    }),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    ...rig,
    url,
    readiness,
    send: (method, path, options) => send(`${url}${path}`, method, options),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await rig.store.close()
    },
  }
}

/** Of one process, which knows it at once. */
export const toldEndpoints = (directory: ServiceDirectory): ReportedEndpoints => ({
  directory,
  apply: (change) => {
    directory.apply(change)
    return Promise.resolve()
  },
})

const send = async (
  url: string,
  method: string,
  { json, body, headers = {} }: Sending = {},
): Promise<ManagementResponse> => {
  const content = json === undefined ? body : JSON.stringify(json)
  const type = json === undefined ? {} : { 'content-type': 'application/json; charset=utf-8' }
  const response = await fetch(url, {
    method,
    headers: { ...type, ...headers },
    ...(content !== undefined && { body: content }),
  })
  const text = await response.text()
  const parsed: unknown =
    text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : undefined
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: parsed,
    record: parsed as ManagementResponse['record'],
  }
}

/** An error record as §2.14 has it. */
export const isErrorRecord = ({ record, headers }: ManagementResponse): boolean =>
  headers.get('content-type') === 'application/json; charset=utf-8' &&
  [record.code, record.message, record.description].every((text) => typeof text === 'string')
