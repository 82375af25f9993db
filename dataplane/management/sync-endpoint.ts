// Serves `POST /api_specs/_sync` (architecture, *Management API*): it performs a sync call and responds with its
// result.

import { reportedErrors, reportedWarnings } from '../../language/wire/report-bounds.ts'
import type { SyncItem, SyncReply } from '../../language/wire/wire.ts'
import type { Store } from '../store/store.ts'
import { readSyncCall } from '../store/sync-call.ts'
import type { SyncResult } from '../store/sync-result.ts'
import { boundDiagnostics, sendJson } from './respond.ts'
import type { Endpoint } from './endpoint.ts'
import { type BodyReading, withJson } from './body.ts'
import { invalidArgument, ManagementError, notOwner } from './management-error.ts'
import { type JsonBounds, toLazy } from './json-body.ts'
import { asMap } from './spec-endpoints.ts'

const MAX_BYTES = 64 * 1024 * 1024
/** The entries of `realms.put` and `specs.put` open at the third level. */
const BOUNDS: JsonBounds = { maxBytes: { map: MAX_BYTES, list: MAX_BYTES }, lazyDepth: { map: 3 } }

export const syncEndpoint = (store: Store, bodies: Omit<BodyReading, 'bounds'>): Endpoint => ({
  path: '/api_specs/_sync',
  post: async (req, res) => {
    if (store.manager === null) throw notOwner(null)
    await withJson(req, { ...bodies, bounds: BOUNDS }, async (body) => {
      const read = readSyncCall(asMap(body, 'A sync call is a JSON object'), toLazy)
      if (!read.ok)
        throw invalidArgument(read.problems[0]?.message ?? 'The body is not a sync call', {
          errors: read.problems,
        })
      sendJson(res, 200, replyOf(await store.sync(read.call)))
    })
  },
})

/** @throws ManagementError 403, 409, 412 */
const replyOf = (result: SyncResult): SyncReply => {
  switch (result.reason) {
    case 'done':
      return {
        rootDigest: result.rootDigest,
        items: reportedItems(result.items),
        ...(result.state !== undefined && { state: result.state }),
      }
    case 'not_owner':
      throw notOwner(result.manager)
    case 'stale_epoch':
      throw new ManagementError(
        409,
        'svc.error.stale_epoch',
        'A call with a later epoch was accepted before this one',
        {
          description: 'The leader must raise its epoch above this one and call again.',
          extra: { epoch: result.epoch },
        },
      )
    case 'stale_base':
      throw new ManagementError(
        412,
        'svc.error.stale_base',
        'The base of the call is not the current state of this gateway',
        {
          description:
            'Read the state again (GET /api_specs?view=state) and send the difference to it.',
          extra: { rootDigest: result.rootDigest },
        },
      )
    case 'incomplete':
      throw incomplete(result)
  }
}

const incomplete = (result: SyncResult & { readonly reason: 'incomplete' }): ManagementError =>
  new ManagementError(
    409,
    'svc.error.incomplete',
    'After this call the gateway has not loaded what the call expected',
    {
      description:
        'The changes of this call are in force; `held` lists every entry by kind and key.',
      extra: {
        rootDigest: result.rootDigest,
        held: Object.fromEntries(
          result.held.map(({ kind, key, digest }) => [`${kind}\t${key}`, digest]),
        ),
        items: reportedItems(result.items),
      },
    },
  )

const MAX_DIAGNOSTICS = 16

/** An operator takes so much of each, and no more. */
const reportedItems = (items: readonly SyncItem[]): readonly SyncItem[] =>
  items.map((item) => ({
    ...item,
    errors: reportedErrors(boundDiagnostics(item.errors, MAX_DIAGNOSTICS)),
    warnings: reportedWarnings(item.warnings),
  }))
