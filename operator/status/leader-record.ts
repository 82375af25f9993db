// Writes from the facts of a Lease what the pages of a replica say of who leads: its own role, the leader's name and
// the command that reaches it. Whatever stands in a Lease is foreign text: it is cut, and never part of a command
// unless it is the name of a Pod. Pure.

import { plainText } from '../fleet/client/plain-text.ts'
import type { LeaseFacts } from '../kubernetes/leader-election/leadership.ts'
import { isObjectName } from '../resource/object-name.ts'

export interface LeasePlace {
  readonly namespace: string
  /** Name of the Lease. */
  readonly lease: string
  /** On which every replica answers `/status`; undefined: on none that kubectl reaches. */
  readonly statusPort: number | undefined
}

export interface LeaderRecord {
  readonly role: 'leader' | 'standby'
  /** Null: there is no leader, or it is not known. */
  readonly leader: {
    /** The name of its Pod, if it is known. */
    readonly name: string
    readonly namespace: string
    /** When it became the leader, by its own clock. */
    readonly since?: string
    /** How to reach its pages. */
    readonly command?: string
  } | null
  /** For a standby: why it says nothing of gateways, and who does. */
  readonly message?: string
}

/** @example leaderRecord(leadership.facts, { namespace: 'svc', lease: 'svc-operator', statusPort: 18085 }).role // 'standby' */
export const leaderRecord = (facts: LeaseFacts, place: LeasePlace): LeaderRecord => {
  const { namespace, lease } = place
  const { holder, heldSinceMs } = facts
  if (facts.isLeading) return { role: 'leader', leader: leaderOf(facts, namespace) }
  const where = `the Lease ${namespace}/${lease}`
  const last = holder === '' ? '' : `; the last holder that was seen is ${displayName(holder)}`
  if (facts.failure !== undefined || !facts.hasLooked) {
    const why =
      facts.failure === undefined
        ? 'has not been read yet'
        : `can't be read or written: ${plainText(facts.failure, MAX_REASON_LENGTH)}`
    return unled(`it is not known who leads: ${where} ${why}${last}`)
  }
  if (holder === '' || facts.isExpired) {
    const why = holder === '' ? 'has no holder' : 'has expired'
    return unled(
      `no replica leads: ${where} ${why}${last}. A running replica takes it within seconds`,
    )
  }
  if (holder === facts.identity) {
    return unled(
      `no replica leads yet: this replica holds ${where}, and its leader term begins in seconds`,
    )
  }
  const leader = leaderOf({ holder, heldSinceMs }, namespace)
  const command = commandFor(holder, place)
  const reached = command === undefined ? '' : `: ${command}`
  return {
    role: 'standby',
    leader: { ...leader, ...(command !== undefined && { command }) },
    message: `this replica is a standby and does not call gateways; ${leader.name} leads and answers${reached}`,
  }
}

const MAX_REASON_LENGTH = 256
const MAX_NAME_LENGTH = 253

const unled = (message: string): LeaderRecord => ({ role: 'standby', leader: null, message })

const leaderOf = (
  { holder, heldSinceMs }: Pick<LeaseFacts, 'holder' | 'heldSinceMs'>,
  namespace: string,
): NonNullable<LeaderRecord['leader']> => ({
  name: displayName(holder),
  namespace,
  ...(heldSinceMs !== undefined && { since: new Date(heldSinceMs).toISOString() }),
})

/** A name with a random suffix that is different after a restart. */
const IDENTITY = /^(.+)_[0-9a-z]{8}$/s

const displayName = (holder: string): string =>
  plainText(IDENTITY.exec(holder.slice(0, 2 * MAX_NAME_LENGTH))?.[1] ?? holder, MAX_NAME_LENGTH)

const commandFor = (holder: string, { namespace, statusPort }: LeasePlace): string | undefined => {
  const pod = IDENTITY.exec(holder.slice(0, 2 * MAX_NAME_LENGTH))?.[1] ?? ''
  return isObjectName(pod) && statusPort !== undefined && statusPort > 0
    ? `kubectl port-forward -n ${namespace} pod/${pod} ${statusPort}`
    : undefined
}
