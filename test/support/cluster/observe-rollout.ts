// Pods that are replaced under traffic: when that is over, and what became of the requests meanwhile.

import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '../eventually.ts'
import { formatTally, type Tally, type TrafficBook } from './traffic-book.ts'

interface RolledPod {
  readonly metadata: { readonly uid: string; readonly deletionTimestamp?: string }
  readonly status: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
  }
}

export const isReady = ({ metadata, status }: RolledPod): boolean =>
  metadata.deletionTimestamp === undefined &&
  (status.conditions ?? []).some(({ type, status: is }) => type === 'Ready' && is === 'True')

interface Settling {
  readonly podsOf: () => Promise<readonly RolledPod[]>
  readonly replicas: number
  /** Those of before. */
  readonly without: readonly RolledPod[]
  /** For messages. */
  readonly what: string
  readonly patience: NonNullable<Parameters<typeof eventually>[1]>
}

/** So many are Ready, and no other is there any more, not even one that ends. */
export const untilSettled = (settling: Settling): Promise<void> =>
  eventually(async () => {
    const { replicas, what } = settling
    const pods = await settling.podsOf()
    const old = new Set(settling.without.map(({ metadata }) => metadata.uid))
    const others = pods.filter((pod) => old.has(pod.metadata.uid) || !isReady(pod))
    if (others.length > 0 || pods.length !== replicas)
      throw new Error(`${what}: ${pods.length} of ${replicas}, ${others.length} old or not Ready`)
  }, settling.patience)

/** A client that lost its place finds another, on a busy machine later; one that does not is counted then. */
const AFTERMATH_MS = 2000
const BACK_WITHIN = { withinMs: 60_000, everyMs: 100 }

/** What became of the traffic meanwhile; it goes on for a while after. */
export const tallyDuring = async (
  book: TrafficBook,
  name: string,
  act: () => Promise<void>,
): Promise<Tally> => {
  book.take()
  const startedMs = performance.now()
  await act()
  await sleep(AFTERMATH_MS)
  const untilBack = eventually(() => {
    if (book.away > 0) throw new Error(`${book.away} streams are not back`)
  }, BACK_WITHIN)
  await untilBack.catch(() => undefined)
  const tally = book.take()
  if (tally.requests <= 100) throw new Error(`${tally.requests} requests say nothing: ${name}`)
  const secondsTo = (ms: number): string => ((ms - startedMs) / 1000).toFixed(1)
  process.stderr.write(formatTally(`${name}, ${secondsTo(performance.now())} s`, tally))
  for (const failure of tally.failures.slice(0, 20))
    process.stderr.write(
      `    lost after ${secondsTo(failure.startedMs)} s: ${JSON.stringify(failure)}\n`,
    )
  return tally
}
