// One round with one data plane: observe → difference → sync calls → complete → verify. What it should hold
// and what is remembered of it in; how it went out. Never throws; waits for nothing but answers.

import { planBatches } from './batches.ts'
import { type Difference, differenceOf, isEmpty, withoutDeletes } from './difference.ts'
import type { Held } from './held.ts'
import { askOwner, observe } from './observe.ts'
import { failed, type PlaneMemory, type RoundContext, type RoundOutcome } from './plane-memory.ts'
import type { Selection } from './selection.ts'
import { complete, factsFor, sendBatch } from './send.ts'

export const runRound = async (
  memory: PlaneMemory,
  selection: Selection,
  context: RoundContext,
): Promise<RoundOutcome> => {
  const trouble = (await observe(memory, context)) ?? (await askOwner(memory, context))
  const { held } = memory
  if (trouble !== undefined || held === undefined)
    return trouble ?? failed('its state is not known')
  memory.rejections.review(held, selection)
  const wanted = differenceOf(selection, held, memory.rejections, context.isElsewhere)
  const guarded = await guardDeletes(wanted, selection, { held, memory, context })
  if ('next' in guarded) return guarded
  for (const batch of planBatches(guarded.difference, factsFor(memory, context))) {
    const trouble = await sendBatch(batch, held, memory, context)
    if (trouble !== undefined) return trouble
  }
  if (!isEmpty(guarded.difference) && held.rootDigest !== held.expectedRootDigest()) {
    memory.doubt()
    return failed('it does not hold what it said it took: observing again')
  }
  const incomplete = await complete(held, memory, context)
  if (incomplete !== undefined) return incomplete
  return guarded.hold === undefined
    ? { phase: 'synced', message: '', next: 'poll' }
    : { phase: 'holding', message: guarded.hold, next: 'poll' }
}

interface Guarding {
  readonly held: Held
  readonly memory: PlaneMemory
  readonly context: RoundContext
}

type Guarded = { readonly difference: Difference; readonly hold?: string } | RoundOutcome

/** Takes the deletes out where they are too many to be meant, or nobody can tell. */
const guardDeletes = async (
  difference: Difference,
  { desired }: Selection,
  { held, memory, context }: Guarding,
): Promise<Guarded> => {
  const wanted = difference.realms.delete.length + difference.documents.delete.length
  if (wanted > 0 && desired.holdDeletes !== undefined) {
    return { difference: withoutDeletes(difference), hold: holdWords(wanted, desired.holdDeletes) }
  }
  const nowMs = context.clock.now()
  const decision = memory.guard.decide(wanted, held.size, nowMs)
  if (decision.decision === 'go') return { difference }
  if (decision.decision === 'confirm' && (await context.confirmDeletes())) {
    memory.guard.confirm()
    return { phase: 'syncing', message: 'the deletes are confirmed', next: 'now' }
  }
  const until =
    decision.decision === 'hold'
      ? `that is more than max(5, 20 %) within a minute; they wait for ${Math.ceil((decision.untilMs - nowMs) / 1000)} s and a live listing that confirms them`
      : 'the live listing that would confirm them fails'
  return { difference: withoutDeletes(difference), hold: holdWords(wanted, until) }
}

const holdWords = (wanted: number, why: string): string =>
  `${wanted} ${wanted === 1 ? 'delete is' : 'deletes are'} held back: ${why}`
