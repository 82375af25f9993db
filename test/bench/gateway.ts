// The gateway as it is run by hand: started on free ports, given a realm and documents through its
// management API.

import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { RealmRecord } from '../../language/realm/record.ts'
import type { SyncReply } from '../../language/wire/wire.ts'
import { freePort } from '../support/free-port.ts'
import { REALM } from './documents.ts'
import type { Server, StartServer } from './server-process.ts'

export interface Gateway extends Server {
  readonly management: string
}

export interface GatewayOptions {
  readonly flags?: readonly string[]
  /** Of Node itself. */
  readonly nodeFlags?: readonly string[]
  /** Of another build; this one's if left out. */
  readonly main?: string | undefined
}

/** As it is shipped: stripping types at start costs 30 MB of memory. */
export const MAIN = fileURLToPath(new URL('../../dist/dataplane/main.js', import.meta.url))

export const startGateway = async (
  start: StartServer,
  { flags = [], nodeFlags = [], main = MAIN }: GatewayOptions = {},
): Promise<Gateway> => {
  const management = `127.0.0.1:${await freePort()}`
  const server = await start({
    command: (port) => [
      process.execPath,
      ...nodeFlags,
      main,
      '--public',
      `127.0.0.1:${port}`,
      '--management',
      management,
      '--log-level',
      'error',
      ...flags,
    ],
  })
  const gateway = { ...server, management: `http://${management}` }
  await untilReady(gateway)
  return gateway
}

const ATTEMPTS = 200
const ATTEMPT_MS = 50

/** Clients are let in first: the management listener is the last to open. */
const untilReady = async ({ management }: Gateway): Promise<void> => {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const response = await fetch(`${management}/ping`).catch(() => undefined)
    if (response?.ok === true) return
    await sleep(ATTEMPT_MS)
  }
  throw new Error(`nothing answers at ${management}`)
}

/** By hand: the realm, then the documents, a thousand in a call. */
export const loadUnmanaged = async (
  gateway: Gateway,
  documents: readonly object[],
  realm: RealmRecord = REALM,
): Promise<void> => {
  await post(gateway, '/realms', JSON.stringify(realm))
  for (let from = 0; from < documents.length; from += PER_CALL)
    await postDocuments(gateway, JSON.stringify(documents.slice(from, from + PER_CALL)))
}

const PER_CALL = 1000

/** @param body a JSON list of documents */
export const postDocuments = async (gateway: Gateway, body: string): Promise<void> => {
  checkItems(await post(gateway, '/api_specs', body))
}

/** @param body a sync call, in JSON */
export const postSync = async (gateway: Gateway, body: string): Promise<void> => {
  checkItems(await post(gateway, '/api_specs/_sync', body))
}

/** A benchmark of documents that were refused would look splendid. */
const checkItems = (reply: string): void => {
  const { items } = JSON.parse(reply) as Pick<SyncReply, 'items'>
  const refused = items.find(({ result }) => result !== 'loaded')
  if (refused !== undefined) throw new Error(`not loaded: ${JSON.stringify(refused)}`)
}

const post = async ({ management }: Gateway, path: string, body: string): Promise<string> => {
  const response = await fetch(management + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${text.slice(0, 1000)}`)
  return text
}
