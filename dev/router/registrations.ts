// Keeps the registrations of callees, replies to REGISTER and UNREGISTER, and picks the callee for a URI. Knows nothing
// of calls.

import { MESSAGE, type WampMessage } from '../../dataplane/wamp/protocol/messages.ts'
import { ownValue } from '../../language/expression/lookup.ts'
import type { Value } from '../../language/expression/value.ts'
import type { Register, Unregister } from './client-message.ts'
import { isMatchPolicy, isPattern, type MatchPolicy, PatternTable } from './pattern-match.ts'
import { errorMessage } from './router-message.ts'
import type { Session } from './session.ts'

export interface Registrations {
  register(callee: Session, message: Register): void
  unregister(callee: Session, message: Unregister): void
  /** The callee that the procedure's policy selects next, among those that share it. */
  pick(procedure: string): Picked | undefined
  /** The session has left. */
  forget(session: Session): void
}

export interface Picked {
  readonly registrationId: number
  readonly callee: Session
  readonly match: MatchPolicy
}

interface Registration {
  readonly id: number
  readonly procedure: string
  readonly match: MatchPolicy
  readonly invoke: InvokePolicy
  readonly callees: Session[]
  /** The place among the callees, for `roundrobin`. */
  next: number
}

type Turn = (registration: Registration, drawBelow: (limit: number) => number) => number

/** Policy → index of the callee that a call goes to. */
const TURNS = {
  single: () => 0,
  first: () => 0,
  last: ({ callees }) => callees.length - 1,
  random: ({ callees }, drawBelow) => drawBelow(callees.length),
  roundrobin: (registration) => {
    const turn = registration.next % registration.callees.length
    registration.next = turn + 1
    return turn
  },
} satisfies Record<string, Turn>

type InvokePolicy = keyof typeof TURNS

const isInvokePolicy = (value: unknown): value is InvokePolicy =>
  typeof value === 'string' && Object.hasOwn(TURNS, value)

/** @param drawBelow a whole number of 0 … limit - 1 */
export const createRegistrations = (drawBelow: (limit: number) => number): Registrations =>
  new RegistrationTable(drawBelow)

class RegistrationTable implements Registrations {
  readonly #drawBelow: (limit: number) => number
  readonly #byPattern = new PatternTable<Registration>()
  readonly #byId = new Map<number, Registration>()
  #lastId = 0

  constructor(drawBelow: (limit: number) => number) {
    this.#drawBelow = drawBelow
  }

  register(callee: Session, message: Register): void {
    const wanted = readWanted(message)
    if ('refusal' in wanted) {
      callee.send(wanted.refusal)
      return
    }
    const id = this.#join(callee, wanted)
    const error = 'wamp.error.procedure_already_exists'
    callee.send(
      id === undefined
        ? errorMessage(MESSAGE.register, message.request, error)
        : [MESSAGE.registered, message.request, id],
    )
  }

  unregister(callee: Session, { request, registration: id }: Unregister): void {
    const registration = this.#byId.get(id)
    const isReleased = registration !== undefined && this.#release(registration, callee)
    const error = 'wamp.error.no_such_registration'
    callee.send(
      isReleased
        ? [MESSAGE.unregistered, request]
        : errorMessage(MESSAGE.unregister, request, error),
    )
  }

  pick(procedure: string): Picked | undefined {
    const registration = this.#byPattern.best(procedure)
    if (registration === undefined) return undefined
    const { id: registrationId, match, callees } = registration
    const callee = callees[TURNS[registration.invoke](registration, this.#drawBelow)]
    return callee === undefined ? undefined : { registrationId, callee, match }
  }

  forget(session: Session): void {
    for (const registration of this.#byId.values()) this.#release(registration, session)
  }

  #join(callee: Session, wanted: Wanted): number | undefined {
    const known = this.#byPattern.get(wanted.match, wanted.procedure)
    if (known === undefined) return this.#open(callee, wanted)
    const isShared = known.invoke !== 'single' && known.invoke === wanted.invoke
    if (!isShared || known.callees.includes(callee)) return undefined
    known.callees.push(callee)
    return known.id
  }

  #open(callee: Session, wanted: Wanted): number {
    const registration = { ...wanted, id: ++this.#lastId, callees: [callee], next: 0 }
    this.#byPattern.set(wanted.match, wanted.procedure, registration)
    this.#byId.set(registration.id, registration)
    return registration.id
  }

  #release(registration: Registration, callee: Session): boolean {
    const index = registration.callees.indexOf(callee)
    if (index < 0) return false
    registration.callees.splice(index, 1)
    if (registration.callees.length === 0) {
      this.#byPattern.delete(registration.match, registration.procedure)
      this.#byId.delete(registration.id)
    }
    return true
  }
}

type Wanted = Pick<Registration, 'procedure' | 'match' | 'invoke'>

const readWanted = ({
  request,
  options,
  uri,
}: Register): Wanted | { readonly refusal: WampMessage } => {
  const refuse = (error: string, ...args: Value[]): { readonly refusal: WampMessage } => ({
    refusal: errorMessage(MESSAGE.register, request, error, args),
  })
  const match = ownValue(options, 'match') ?? 'exact'
  const invoke = ownValue(options, 'invoke') ?? 'single'
  if (!isMatchPolicy(match)) {
    return refuse('wamp.error.invalid_argument', 'match must be exact, prefix or wildcard')
  }
  if (!isInvokePolicy(invoke)) {
    const policies = Object.keys(TURNS).join(', ')
    return refuse('wamp.error.invalid_argument', `invoke must be one of ${policies}`)
  }
  // URIs with this prefix are the router's own.
  if (!isPattern(uri, match) || uri.startsWith('wamp.')) {
    const shown = JSON.stringify(uri.slice(0, 255))
    return refuse('wamp.error.invalid_uri', `${shown} can't be registered: no URI, or reserved`)
  }
  return { procedure: uri, match, invoke }
}
