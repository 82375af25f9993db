// Serves `/api_specs` and `/services/load_api_spec` (specification §4.2; behaviour §2): loads, deletes and returns
// documents.

import type { RequestHandler } from 'express'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isList, isMap, type ValueMap } from '../../language/expression/value.ts'
import { foldedRecord } from '../../language/explain/fold-document.ts'
import type { SyncItem } from '../../language/wire/wire.ts'
import { expand } from '../store/packed/compact.ts'
import type { FoldLoaded } from '../store/fold-loaded.ts'
import type { LoadedDocument } from '../store/loaded-content.ts'
import { fullRecord, infoRecord } from '../store/read-back.ts'
import type { Store } from '../store/store.ts'
import { boundDiagnostics, sendJson, sendNothing, sendPieces } from './respond.ts'
import type { Endpoint } from './endpoint.ts'
import { type BodyReading, withJson } from './body.ts'
import { invalidArgument, ManagementError, notFound, notOwner } from './management-error.ts'
import { type JsonBounds, MAX_ENTRIES, toLazy, tooMany } from './json-body.ts'
import { sendNotModified, sendTagged } from './tagged.ts'

type Bodies = Omit<BodyReading, 'bounds'>

/** A document, or a list of them. */
const BOUNDS: JsonBounds = {
  maxBytes: { map: 4 * 1024 * 1024, list: 64 * 1024 * 1024 },
  lazyDepth: { list: 1 },
}

export const specEndpoints = (
  store: Store,
  bodies: Bodies,
  fold?: FoldLoaded,
): readonly Endpoint[] => {
  const load = loadHandler(store, bodies)
  return [
    { path: '/api_specs', get: listHandler(store), post: load },
    { path: '/services/load_api_spec', post: load },
    {
      path: '/api_specs/:id',
      get: async (req, res) => {
        const document = find(store, req.params['id'])
        const view = viewOf(req.query)
        if (view === 'folded' && fold !== undefined) await sendFolded(req, res, { document, fold })
        else if (view === undefined) sendJson(res, 200, fullRecord(document))
        else if (view === 'source')
          sendTagged(req, res, {
            etag: `"${document.digest}"`,
            text: () => expand(document.source),
          })
        else throw unknownView(view)
      },
      delete: async (req, res) => {
        if (!store.allowsUnmanaged) throw notOwner(store.manager)
        const { notOwner: owner } = await store.delete(String(req.params['id']))
        if (owner !== undefined) throw notOwner(owner)
        sendNothing(res)
      },
    },
    {
      path: '/api_specs/:id/info',
      get: (req, res) => {
        sendJson(res, 200, infoRecord(find(store, req.params['id'])))
      },
    },
  ]
}

/** Inherited and folded, without the values of Secrets. */
const sendFolded = async (
  req: IncomingMessage,
  res: ServerResponse,
  { document, fold }: { readonly document: LoadedDocument; readonly fold: FoldLoaded },
): Promise<void> => {
  if (sendNotModified(req, res, `"folded-${document.digest}"`)) return
  const result = await fold(document)
  if ('problem' in result)
    throw new ManagementError(
      409,
      'svc.error.secrets_needed',
      'This document cannot be shown folded',
      {
        description: result.problem,
      },
    )
  sendJson(res, 200, foldedRecord(result.folded))
}

/** 204 for one document, 200 with a result per item for a list. */
const loadHandler =
  (store: Store, bodies: Bodies): RequestHandler =>
  async (req, res) => {
    if (!store.allowsUnmanaged) throw notOwner(store.manager)
    await withJson(req, { ...bodies, bounds: BOUNDS }, async (body) => {
      if (isList(body)) {
        sendJson(res, 200, { items: await loadAll(store, body) })
        return
      }
      await loadOne(store, body)
      sendNothing(res)
    })
  }

const loadOne = async (store: Store, body: unknown): Promise<void> => {
  const document = asMap(body, 'An API Specification is a JSON object')
  const [result] = await store.load([() => document])
  if (result?.notOwner !== undefined) throw notOwner(result.notOwner)
  if (result?.item.result === 'rejected') throw rejection(result.item)
}

/** The body of an endpoint that takes one argument (specification §7.2). */
export const asMap = (body: unknown, whatItIs: string): ValueMap => {
  if (body === undefined) throw invalidArgument('Invalid number of positional arguments')
  if (!isMap(body)) throw invalidArgument(whatItIs)
  return body
}

export const rejection = ({ errors, warnings }: SyncItem): ManagementError =>
  invalidArgument(errors[0]?.message ?? 'It was rejected', {
    description: `${errors.length === 1 ? '1 problem was' : `${errors.length} problems were`} found; nothing has changed.`,
    errors,
    warnings,
  })

const MAX_ITEM_DIAGNOSTICS = 16

/** The items of a response, each bounded, so that a response never grows with what was sent. */
const boundItems = (items: readonly SyncItem[]): readonly SyncItem[] =>
  items.map((item) => ({
    ...item,
    errors: boundDiagnostics(item.errors, MAX_ITEM_DIAGNOSTICS),
    warnings: boundDiagnostics(item.warnings, MAX_ITEM_DIAGNOSTICS),
  }))

const loadAll = async (store: Store, entries: readonly unknown[]): Promise<readonly SyncItem[]> => {
  if (entries.length > MAX_ENTRIES) throw tooMany()
  const documents = entries.map(toLazy)
  const results = await store.load(documents)
  return boundItems(results.map(({ item }) => item))
}

const listHandler =
  (store: Store): RequestHandler =>
  async (req, res) => {
    const view = viewOf(req.query)
    if (view === 'state') {
      sendTagged(req, res, store.state())
      return
    }
    if (view !== undefined) throw unknownView(view)
    res.setHeader('content-type', 'application/json; charset=utf-8')
    if (req.method === 'HEAD') {
      res.end()
      return
    }
    await sendPieces(res, recordTexts(store.documents()))
  }

/** A JSON list, piece by piece. */
function* recordTexts(documents: readonly LoadedDocument[]): Generator<string> {
  let separator = '['
  for (const document of documents) {
    yield `${separator}${JSON.stringify(fullRecord(document))}`
    separator = ','
  }
  yield documents.length === 0 ? '[]' : ']'
}

const find = (store: Store, id: unknown): LoadedDocument => {
  const document = store.document(String(id))
  if (document === undefined)
    throw notFound(`There is no API Specification with the id '${String(id)}'`)
  return document
}

export const viewOf = (query: Readonly<Record<string, unknown>>): string | undefined =>
  Object.hasOwn(query, 'view') ? String(query['view']) : undefined

export const unknownView = (view: string): ManagementError =>
  invalidArgument(`There is no view named '${view}' here`)
