// Runs one round with one data plane: observe → difference → sync calls → complete → verify. It throws only when it is
// aborted, and waits only for responses and for its share of the resources of the fleet.

import { type BatchPlan, planBatches, planOnce } from './batches.ts'
import {
  type Difference,
  differenceOf,
  isEmpty,
  NO_DIFFERENCE,
  splitRevoked,
  withoutDeletes,
} from './difference.ts'
import type { LoadedState } from './loaded-state.ts'
import { askOwner, observe } from './observe.ts'
import { failed, type PlaneMemory, type RoundContext, type RoundResult } from './plane-memory.ts'
import { newestFirst } from './recency.ts'
import type { Selection } from './selection.ts'
import { complete, factsFor, sendBatch } from './send.ts'
import { untilAborted } from '../../../base/until-aborted.ts'

export const runRound = async (
  memory: PlaneMemory,
  selection: Selection,
  context: RoundContext,
): Promise<RoundResult> => {
  const failure = (await observe(memory, selection, context)) ?? (await askOwner(memory, context))
  const { loaded } = memory
  if (failure !== undefined || loaded === undefined)
    return failure ?? failed('its state is not known')
  memory.rejections.review(loaded, selection)
  const round: Round = { loaded, selection, memory, context }
  const wanted = differenceFor(round)
  recordWaiting(wanted.documents.waiting, round)
  const { revoked, rest } = splitRevoked(wanted, selection.desired)
  const unrevoked = await revoke(revoked, round)
  if (unrevoked !== undefined) return unrevoked
  const guarded = await guardDeletes(rest, round)
  if ('next' in guarded) return guarded
  const broken = await sendAll(guarded.difference, round)
  if (broken !== undefined) return broken
  const incomplete = await complete(loaded, { selection, memory, context })
  if (incomplete !== undefined) return incomplete
  loaded.shareContents(context.shareContents, selection)
  return guarded.hold === undefined
    ? { phase: 'synced', message: '', next: 'poll' }
    : { phase: 'holding', message: guarded.hold, next: 'poll' }
}

const recordWaiting = (ids: readonly string[], { memory, context }: Round): void => {
  memory.waitsFor = ids
  if (ids.length > 0) context.waiting.add(memory.dataPlane.name)
  else context.waiting.delete(memory.dataPlane.name)
}

interface Round {
  readonly loaded: LoadedState
  readonly selection: Selection
  readonly memory: PlaneMemory
  readonly context: RoundContext
}

const differenceFor = ({ loaded, selection, memory, context }: Round): Difference =>
  loaded.matches(selection)
    ? NO_DIFFERENCE
    : differenceOf(selection, loaded, memory.rejections, (document) =>
        // Data planes that will lose it too, such as replicas of an earlier version, don't count.
        context.isElsewhere(document),
      )

/**
 * Revokes documents and realms before everything else, in calls of their own, so that neither many edits nor many deletes
 * delay it.
 * @returns undefined: it is done
 */
const revoke = async (
  revoked: Difference,
  { loaded, selection, memory, context }: Round,
): Promise<RoundResult | undefined> => {
  if (isEmpty(revoked)) return undefined
  const facts = factsFor(loaded, context, memory.since(loaded, selection))
  for (const batch of planBatches(revoked, facts).batches) {
    const failure = await sendBatch(batch, loaded, { selection, memory, context })
    if (failure !== undefined) return failure
  }
  return undefined
}

/** @returns undefined: everything was sent */
const sendAll = async (
  difference: Difference,
  { loaded, selection, memory, context }: Round,
): Promise<RoundResult | undefined> => {
  if (isEmpty(difference)) return undefined
  const startedAtMs = context.clock.now()
  const since = memory.since(loaded, selection)
  const versionOf = context.recency.of.bind(context.recency)
  const { documents } = difference
  const ordered = {
    ...difference,
    documents: { ...documents, put: newestFirst(documents.put, versionOf, since) },
  }
  const plan = planOnce(loaded.differing(selection), ordered, factsFor(loaded, context, since))
  const must = mustSend(plan, documents.delete.length)
  for (const [index, batch] of plan.batches.entries()) {
    // What was edited meanwhile is sent before the rest.
    if (index >= must && !context.isCurrent(selection)) return NEWER
    const failure = await sendBatch(batch, loaded, { selection, memory, context })
    if (failure !== undefined) return failure
  }
  context.counter.round((context.clock.now() - startedAtMs) / 1000)
  if (loaded.rootDigest === loaded.expectedRootDigest(selection)) return undefined
  memory.invalidate()
  return failed('it has not loaded what it confirmed: its state is being read again')
}

/**
 * How many batches are sent even if something newer is desired meanwhile: those of the latest edits, and one more, so that
 * a stream of edits does not delay the rest without end. With many deletes all of them are, as a live listing has
 * confirmed these deletes and would have to do so again.
 */
const mustSend = ({ batches, urgentCount }: BatchPlan, deletes: number): number =>
  deletes > MAX_DELETES_TO_YIELD ? batches.length : urgentCount + 1

const MAX_DELETES_TO_YIELD = 5
const NEWER: RoundResult = { phase: 'syncing', message: '', next: 'again' }

type Guarded = { readonly difference: Difference; readonly hold?: string } | RoundResult

/** Leaves the deletes out if they are so many that they may be a mistake, until a live listing confirms them. */
const guardDeletes = async (
  difference: Difference,
  { loaded, selection: { desired }, memory, context }: Round,
): Promise<Guarded> => {
  const wanted = difference.realms.delete.length + difference.documents.delete.length
  if (wanted > 0 && desired.holdDeletes !== undefined) {
    return { difference: withoutDeletes(difference), hold: holdWords(wanted, desired.holdDeletes) }
  }
  const nowMs = context.clock.now()
  const decision = memory.guard.decide(wanted, loaded.size, nowMs)
  if (decision.decision === 'go') return { difference }
  if (decision.decision === 'confirm' && (await isConfirmed(context))) {
    memory.guard.confirm()
    return { phase: 'syncing', message: 'the deletes are confirmed', next: 'moved' }
  }
  const until =
    decision.decision === 'hold'
      ? `within a minute more than 5, and more than 20 % of what is loaded, would go. They are sent after ${Math.ceil((decision.untilMs - nowMs) / 1000)} s if a live listing confirms them`
      : 'the live listing that must confirm them has failed'
  return { difference: withoutDeletes(difference), hold: holdWords(wanted, until) }
}

const isConfirmed = ({ confirmDeletes, signal }: RoundContext): Promise<boolean> =>
  untilAborted(signal, confirmDeletes())

const holdWords = (wanted: number, why: string): string =>
  `${wanted} ${wanted === 1 ? 'delete is' : 'deletes are'} held back: ${why}`
