import { expect, it } from '@jest/globals'
import {
  type ElectionEvent,
  type ElectionPhase,
  nextPhase,
} from '../../../../operator/kubernetes/leader-election/phase.ts'

type Phase = ElectionPhase<string>
type Event = ElectionEvent<string>

const BEFORE = { wallMs: 100, monotonicMs: 10 }
const NOW = { wallMs: 1000, monotonicMs: 910 }

const PHASES = {
  candidate: { name: 'candidate' },
  taking_over: { name: 'taking_over', leadsFromMs: 910 },
  leader: { name: 'leader', term: 'first', renewedAt: BEFORE },
  stopped: { name: 'stopped' },
} satisfies { readonly [Name in Phase['name']]: Extract<Phase, { readonly name: Name }> }

const confirmedAt = (nowMs: number): Event => ({
  type: 'confirmed',
  sentAt: NOW,
  nowMs,
  createTerm: () => 'second',
})

const ACQUIRED: Event = { type: 'acquired', leadsFromMs: 2000 }
const LOST: Event = { type: 'lost', reason: 'it was deleted' }
const STOPPED: Event = { type: 'stopped' }

/** For each phase: the event, and the phase that follows. */
const TRANSITIONS = {
  candidate: [
    [ACQUIRED, { name: 'taking_over', leadsFromMs: 2000 }],
    [confirmedAt(0), { name: 'leader', term: 'second', renewedAt: NOW }],
    [LOST, { name: 'candidate' }],
    [STOPPED, { name: 'stopped' }],
  ],
  taking_over: [
    [ACQUIRED, { name: 'taking_over', leadsFromMs: 2000 }],
    [confirmedAt(909), PHASES.taking_over],
    [confirmedAt(910), { name: 'leader', term: 'second', renewedAt: NOW }],
    [LOST, PHASES.taking_over],
    [STOPPED, { name: 'stopped' }],
  ],
  leader: [
    [ACQUIRED, { name: 'taking_over', leadsFromMs: 2000 }],
    [confirmedAt(0), { name: 'leader', term: 'first', renewedAt: NOW }],
    [LOST, { name: 'candidate' }],
    [STOPPED, { name: 'stopped' }],
  ],
  stopped: [
    [ACQUIRED, PHASES.stopped],
    [confirmedAt(1_000_000), PHASES.stopped],
    [LOST, PHASES.stopped],
    [STOPPED, PHASES.stopped],
  ],
} satisfies Record<Phase['name'], [Event, Phase][]>

const rows = Object.values(PHASES).flatMap((phase) =>
  TRANSITIONS[phase.name].map(([event, after]) => ({
    from: phase.name,
    happened: event.type === 'confirmed' ? `confirmed at ${String(event.nowMs)} ms` : event.type,
    to: after.name,
    phase,
    event,
    after,
  })),
)

it.each(rows)('a replica that is $from and then $happened is $to', ({ phase, event, after }) => {
  expect(nextPhase<string>(phase, event)).toEqual(after)
})

it.each(Object.values(PHASES).filter(({ name }) => name !== 'candidate'))(
  'no leader term is created for a replica that is $name and may not begin one',
  (phase) => {
    const createTerm = (): string => {
      throw new Error('a term was created')
    }
    const event: Event = { type: 'confirmed', sentAt: NOW, nowMs: 0, createTerm }
    expect(nextPhase<string>(phase, event).name).toBe(phase.name)
  },
)
