// Serves `/realms` (behaviour §7): puts, deletes and returns realm records, without their secrets.

import { redacted, secretPointers } from '../../language/realm/redact.ts'
import type { LoadedRealm } from '../store/loaded-content.ts'
import type { Store } from '../store/store.ts'
import type { DurableListing } from '../wamp/realm/wamp-client.ts'
import { sendJson, sendNothing } from './respond.ts'
import type { Endpoint } from './endpoint.ts'
import { type BodyReading, withJson } from './body.ts'
import { notFound, notOwner } from './management-error.ts'
import type { JsonBounds } from './json-body.ts'
import { asMap, rejection, unknownView, viewOf } from './spec-endpoints.ts'

const MAX_BYTES = 4 * 1024 * 1024
const BOUNDS: JsonBounds = { maxBytes: { map: MAX_BYTES, list: MAX_BYTES }, lazyDepth: {} }

export const realmEndpoints = (
  store: Store,
  bodies: Omit<BodyReading, 'bounds'>,
  callbacksOf: (realmUri: string) => readonly DurableListing[],
): readonly Endpoint[] => {
  const record = ({ uri, record }: LoadedRealm): object => ({
    ...redacted(record),
    sessions: store.sessionsOf(uri),
    callbacks: callbacksOf(uri),
    failingProviders: store.failingProvidersOf(uri),
    failingCredentials: store.failingCredentialsOf(uri),
  })
  /** The record as it was put, for putting it elsewhere: `secrets` has pointers to the values to fill in. */
  const source = ({ record }: LoadedRealm): object => ({
    realm: redacted(record),
    secrets: secretPointers(record),
  })
  return [
    {
      path: '/realms',
      get: (req, res) => {
        const view = viewOf(req.query)
        if (view !== undefined && view !== 'source') throw unknownView(view)
        sendJson(res, 200, store.realms().map(view === 'source' ? source : record))
      },
      post: async (req, res) => {
        if (!store.allowsUnmanaged) throw notOwner(store.manager)
        await withJson(req, { ...bodies, bounds: BOUNDS }, async (body) => {
          const { item, notOwner: owner } = await store.putRealm(
            asMap(body, 'A realm is a JSON object'),
          )
          if (owner !== undefined) throw notOwner(owner)
          if (item.result === 'rejected') throw rejection(item)
          sendNothing(res)
        })
      },
    },
    {
      path: '/realms/:uri',
      get: (req, res) => {
        const realm = store.realm(String(req.params['uri']))
        if (realm === undefined)
          throw notFound(`There is no realm named '${String(req.params['uri'])}'`)
        sendJson(res, 200, record(realm))
      },
      delete: async (req, res) => {
        if (!store.allowsUnmanaged) throw notOwner(store.manager)
        const { notOwner: owner } = await store.deleteRealm(String(req.params['uri']))
        if (owner !== undefined) throw notOwner(owner)
        sendNothing(res)
      },
    },
  ]
}
