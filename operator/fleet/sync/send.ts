// Sends batches, records from the responses what was loaded and what was rejected, and completes the sync: it lets the data
// plane go into service when it may.

import { oncePer } from '../../../base/once.ts'
import { reportedItemBytes } from '../../../language/wire/report-bounds.ts'
import type { SyncItem, SyncReply } from '../../../language/wire/wire.ts'
import type { Rejection } from '../../data-plane.ts'
import type { Batch, BatchFacts } from './batches.ts'
import { claimsOf } from './loaded-contents.ts'
import type { LoadedState } from './loaded-state.ts'
import type { ManagementResponse } from '../management-client.ts'
import { describeRefusal, superseded } from './observe.ts'
import { failed, type PlaneMemory, type RoundContext, type RoundResult } from './plane-memory.ts'
import type { Selection } from './selection.ts'
import { type CallHead, completeBody, joinBody, type SyncBody } from './sync-body.ts'
import { untilAborted } from '../../../base/until-aborted.ts'

export interface Sending {
  readonly selection: Selection
  readonly memory: PlaneMemory
  readonly context: RoundContext
}

/** @param since version of the desired state when the rounds with this data plane began */
export const factsFor = (
  { documents }: LoadedState,
  { bodies, recency }: RoundContext,
  since: number,
): BatchFacts => ({
  sizeOf: (entry) => bodies.sizeOf(entry),
  loadedClaims: (id) => claimsOf(documents.get(id)),
  isLive: (document) => recency.of(document) > since,
})

/** @returns undefined: the batch was accepted, and the round goes on */
export const sendBatch = async (
  batch: Batch,
  loaded: LoadedState,
  sending: Sending,
): Promise<RoundResult | undefined> => {
  const { memory, context } = sending
  const { bodies, bodyBytes, urgency, signal } = context
  const content = await bodies.content(batch)
  const release = await bodyBytes.acquire({ weight: content.bytes.length, urgency, signal })
  try {
    const body = joinBody(headOf(loaded, sending), content)
    const response = await push(body, sending, sentOf(batch).bytes)
    if (response.result !== 'ok') return await refused(response, memory, context)
    recordItems(batch, response.value, { ...sending, loaded })
    return undefined
  } finally {
    release()
  }
}

/** Completes the sync of the data plane. @returns undefined: it is complete, or was before */
export const complete = async (
  loaded: LoadedState,
  sending: Sending,
): Promise<RoundResult | undefined> => {
  const { selection, memory, context } = sending
  if (loaded.complete) return undefined
  const lacking = lackingOf(sending)
  // Each namespace is asked separately, as each has its own time.
  const justified = lacking.filter(({ namespace }) => context.withholding.isJustified(namespace))
  if (justified.length > 0) return withheld(justified)
  const body = completeBody(headOf(loaded, sending), loaded.expectedRootDigest(selection))
  const response = await push(body, sending)
  if (response.result !== 'ok') return refused(response, memory, context)
  loaded.completed(response.value)
  memory.followed(response.value)
  const { name } = memory.dataPlane
  context.log.info('data plane is complete', { dataPlane: name, documents: loaded.documents.size })
  if (lacking.length > 0)
    context.log.warn(
      'data plane goes into service without documents that it rejects and others serve',
      {
        dataPlane: name,
        refused: lacking.slice(0, MAX_NAMED).map(refusalWords),
        count: lacking.length,
      },
    )
  return undefined
}

/** A document that this data plane rejects, and others serve. */
interface Lacking {
  readonly id: string
  readonly namespace: string
  readonly rejection: Rejection
}

/** Documents that others reject too, or that are too expensive at the moment, are no fault of the data plane. */
const lackingOf = ({ selection, memory, context }: Sending): readonly Lacking[] =>
  [...memory.rejections.documents].flatMap(([id, rejection]) => {
    const namespace = selection.documents.get(id)?.namespace
    const isOfDocument = rejection.errors.some(({ code }) => code === 'too_expensive')
    if (namespace === undefined || isOfDocument) return []
    return context.isHeldElsewhere(id, rejection.digest) ? [{ id, namespace, rejection }] : []
  })

const push = async (
  body: SyncBody,
  { selection, memory, context }: Sending,
  itemBytes = 0,
): Promise<ManagementResponse<SyncReply>> => {
  const response = await memory.client.sync(body, memory.responseBound(selection, itemBytes))
  const { result } = response
  const isAnswered = result === 'ok' || result === 'refused'
  if (isAnswered) context.onResponse()
  context.counts.push(isAnswered ? result : 'failed', body.bytes.length)
  return response
}

/** The entries of a batch, which its response may be about; computed once for all data planes that are sent it. */
const sentOf = oncePer(
  ({
    realmPuts,
    puts,
    deletes,
    realmDeletes,
  }: Batch): Readonly<Record<SyncItem['kind'], ReadonlySet<string>>> & {
    readonly bytes: number
  } => {
    const realm = new Set([...realmPuts.map(({ uri }) => uri), ...realmDeletes])
    const spec = new Set([...puts.map(({ id }) => id), ...deletes])
    const bytes = [...realm, ...spec].reduce((sum, key) => sum + reportedItemBytes(key), 0)
    return { realm, spec, bytes }
  },
)

const headOf = (
  loaded: LoadedState,
  { memory, context: { manager, epochSource } }: Sending,
): CallHead => ({
  managedBy: manager,
  epoch: epochSource.epoch(memory.dataPlane.name),
  base: loaded.rootDigest,
})

/** The advice comes before the list, as an Event may have to cut the message. */
const withheld = (refusals: readonly Lacking[]): RoundResult => {
  const named = refusals.slice(0, MAX_NAMED).map(refusalWords)
  const more = refusals.length - named.length
  return {
    phase: 'withheld',
    message:
      'it rejects documents that another data plane serves, so it is kept out of service for a while. ' +
      'Give it the version and the settings of the others, or change these documents: ' +
      [...named, ...(more > 0 ? [`and ${more} more`] : [])].join(', '),
    next: 'poll',
  }
}

const MAX_NAMED = 5

const refusalWords = ({ id, rejection }: Lacking): string => {
  const [first] = rejection.errors
  return first === undefined ? id : `${id} (${first.path}: ${first.message})`
}

const refused = async (
  response: Exclude<ManagementResponse<SyncReply>, { readonly result: 'ok' }>,
  memory: PlaneMemory,
  { manager, epochSource, signal }: RoundContext,
): Promise<RoundResult> => {
  // A part of the call may have been done.
  memory.invalidate()
  if (response.result !== 'refused') {
    return failed(
      response.result === 'failed' ? response.message : 'it answered 304 to a sync call',
    )
  }
  const { status, refusal } = response
  if (status === 412) {
    return {
      phase: 'syncing',
      message: 'it has changed meanwhile: its state is being read again',
      next: 'moved',
    }
  }
  if (status !== 409) return describeRefusal(status, refusal, manager)
  const { epoch } = refusal
  const { name } = memory.dataPlane
  if (epoch !== undefined && epoch > epochSource.epoch(name)) {
    const isRaised = await untilAborted(signal, epochSource.challenge(epoch, name))
    return isRaised ? { phase: 'syncing', message: '', next: 'moved' } : superseded(manager, epoch)
  }
  return failed(`it has loaded something else than what was sent to it: ${refusal.message}`)
}

interface Taking extends Sending {
  readonly loaded: LoadedState
}

const recordItems = (batch: Batch, reply: SyncReply, taking: Taking): void => {
  const { loaded, memory, context } = taking
  loaded.rootDigest = reply.rootDigest
  const items = requestedItems(batch, reply)
  const answered: Answered = (kind, id) => {
    const item = items[kind].get(id)
    // If the response leaves out what was sent, the result is not known.
    if (item === undefined) memory.invalidate()
    return item
  }
  recordPuts(batch, answered, taking)
  recordDeletes(batch, answered, taking)
  memory.followed(reply)
  const deleted = batch.deletes.length + batch.realmDeletes.length
  memory.guard.deleted(deleted, context.clock.now())
  const all = [...items.realm.values(), ...items.spec.values()]
  context.counts.items(all)
  logItems(all, memory, context)
}

/** Ignores items about anything that is not in the batch. */
const requestedItems = (
  batch: Batch,
  { items }: SyncReply,
): Readonly<Record<SyncItem['kind'], ReadonlyMap<string, SyncItem>>> => {
  const sent = sentOf(batch)
  const found = { realm: new Map<string, SyncItem>(), spec: new Map<string, SyncItem>() }
  for (const item of items) if (sent[item.kind].has(item.id)) found[item.kind].set(item.id, item)
  return found
}

type Answered = (kind: SyncItem['kind'], id: string) => SyncItem | undefined

const recordPuts = (batch: Batch, answered: Answered, { loaded, memory }: Taking): void => {
  for (const realm of batch.realmPuts) {
    const item = answered('realm', realm.uri)
    if (item !== undefined) loaded.putRealm(item, realm.uri, realm.digest)
    if (item?.result === 'rejected') memory.rejections.addRealm(realm, item.errors)
  }
  for (const document of batch.puts) {
    const item = answered('spec', document.id)
    if (item !== undefined) loaded.putDocument(item, document)
    if (item?.result === 'rejected') memory.rejections.addDocument(document, loaded, item.errors)
  }
}

const recordDeletes = (batch: Batch, answered: Answered, { loaded }: Taking): void => {
  for (const id of batch.deletes) {
    // Also for `unchanged`: it does not belong to this operator any more.
    if (answered('spec', id) !== undefined) loaded.remove('spec', id)
  }
  for (const uri of batch.realmDeletes) {
    if (answered('realm', uri) !== undefined) loaded.remove('realm', uri)
  }
}

const logItems = (
  items: readonly SyncItem[],
  { dataPlane }: PlaneMemory,
  { log }: RoundContext,
): void => {
  const count = (result: SyncItem['result']): number =>
    items.filter((item) => item.result === result).length
  // On level debug, as there is such a line for each data plane; an edit itself has one line at level info.
  log.debug('data plane has processed a batch', {
    dataPlane: dataPlane.name,
    loaded: count('loaded'),
    unchanged: count('unchanged'),
    deleted: count('deleted'),
    rejected: count('rejected'),
  })
  const rejected = items.filter(({ result }) => result === 'rejected')
  for (const { kind, id, errors } of rejected.slice(0, MAX_LOGGED)) {
    log.warn('data plane rejects an entry', {
      dataPlane: dataPlane.name,
      kind,
      id,
      error: errors[0],
    })
  }
}

/** Most rejections of a batch that are logged; the line before has their number. */
const MAX_LOGGED = 20
