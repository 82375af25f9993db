// Defines the phases of a replica in the election, and which phase follows each event. It reads no clock and calls
// nothing: the election begins and ends the leader term when the phase changes.

import type { Moment } from './decision.ts'

export type ElectionPhase<Term> =
  /** Does not hold the Lease as far as it knows, or holds it still although its leader term has ended. */
  | { readonly name: 'candidate' }
  /** Has written itself into the Lease, and does not lead before this time, as an earlier holder may still act. */
  | { readonly name: 'taking_over'; readonly leadsFromMs: number }
  | { readonly name: 'leader'; readonly term: Term; readonly renewedAt: Moment }
  /** For good. */
  | { readonly name: 'stopped' }

export type ElectionEvent<Term> =
  /** Our write has made us the holder. */
  | { readonly type: 'acquired'; readonly leadsFromMs: number }
  /** A write of ours stands in the Lease, and was sent so recently that we may lead by it. */
  | {
      readonly type: 'confirmed'
      readonly sentAt: Moment
      readonly nowMs: number
      readonly createTerm: () => Term
    }
  /** The Lease has another holder or none, or the renew deadline has passed. */
  | { readonly type: 'lost'; readonly reason: string }
  | { readonly type: 'stopped' }

/**
 * @returns `phase` itself where the event changes nothing; times are of the monotonic clock
 * @example nextPhase({ name: 'leader', term, renewedAt }, { type: 'lost', reason: 'it was deleted' }) // → { name: 'candidate' }
 */
export const nextPhase = <Term>(
  phase: ElectionPhase<Term>,
  event: ElectionEvent<Term>,
): ElectionPhase<Term> => {
  if (phase.name === 'stopped') return phase
  switch (event.type) {
    case 'stopped':
      return { name: 'stopped' }
    case 'lost':
      // A replica that takes over stays what it is: someone may edit the Lease back to it before its time has come.
      return phase.name === 'leader' ? { name: 'candidate' } : phase
    case 'acquired':
      return { name: 'taking_over', leadsFromMs: event.leadsFromMs }
    case 'confirmed':
      return afterConfirmation(phase, event)
  }
}

const afterConfirmation = <Term>(
  phase: Exclude<ElectionPhase<Term>, { readonly name: 'stopped' }>,
  { sentAt, nowMs, createTerm }: Extract<ElectionEvent<Term>, { readonly type: 'confirmed' }>,
): ElectionPhase<Term> => {
  switch (phase.name) {
    case 'candidate':
      return { name: 'leader', term: createTerm(), renewedAt: sentAt }
    case 'taking_over':
      return nowMs >= phase.leadsFromMs
        ? { name: 'leader', term: createTerm(), renewedAt: sentAt }
        : phase
    case 'leader':
      return { ...phase, renewedAt: sentAt }
  }
}
