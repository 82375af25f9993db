// Validates the `options` of a WAMP action, and separates those for the router from the gateway's own. Routers end a
// session for an option of the wrong type; others they ignore.

import { ownValue } from '../../../language/expression/lookup.ts'
import { isList, isMap, type Value, type ValueMap } from '../../../language/expression/value.ts'
import type { WampMatch } from '../../../language/wamp-uri.ts'
import { checkValue, invalid } from './validate.ts'

/** Actions that send their options. */
export type OptionsKind = 'call' | 'publish' | 'subscribe' | 'register'

export interface CheckedOptions {
  /** The options that are sent to the router. */
  readonly sent: ValueMap
  /** How long the router may take, in milliseconds, never beyond the bound of timers; 0: not set. */
  readonly timeoutMs: number
  readonly forwardsIdentity: boolean
  /** Whether the trace context is sent to the callee, or to subscribers, if requests are traced. */
  readonly forwardsTrace: boolean
  readonly match: WampMatch
}

/**
 * @throws WampError `wamp.error.invalid_argument` naming the option
 * @example checkOptions('call', { timeout: 500, x: 1 }) // {sent: {x: 1}, timeoutMs: 500, …}
 */
export const checkOptions = (kind: OptionsKind, value: Value): CheckedOptions => {
  if (!isMap(value)) throw invalid('options: expected a map')
  checkValue('options', value)
  for (const name of Object.keys(value)) checkOption(kind, name, value[name] ?? null)
  return split(kind, value)
}

type Check = readonly [isRight: (value: Value) => boolean, expected: string]

const checkOption = (kind: OptionsKind, name: string, value: Value): void => {
  const known = KNOWN[kind].get(name)
  if (known === undefined) {
    if (RESERVED.test(name)) throw invalid(`options.${name}: documents cannot set this option here`)
    return
  }
  const [isRight, expected] = known
  if (!isRight(value)) throw invalid(`options.${name}: expected ${expected}`)
}

/**
 * Options that only routers and the gateway set, and payload modes that both ends must have agreed on: otherwise a
 * router ends the session.
 */
const RESERVED =
  /^(?:receive_progress|progress|forward_for|forward_identity|forward_trace|(?:caller|publisher|enc|ppt)(?:_.*)?)$/

const FLAG: Check = [(value) => typeof value === 'boolean', 'true or false']
const TEXT: Check = [(value) => typeof value === 'string', 'a text']
const COUNT: Check = [
  (value) => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0,
  'a whole number, 0 or more',
]
const POSITIVE: Check = [
  (value) => typeof value === 'number' && Number.isSafeInteger(value) && value > 0,
  'a whole number, 1 or more',
]
const TEXTS: Check = [
  (value) => isList(value) && value.every((item) => typeof item === 'string'),
  'a list of texts',
]
const IDS: Check = [
  (value) => isList(value) && value.every((item) => Number.isSafeInteger(item)),
  'a list of session ids (whole numbers)',
]

const oneOf = (...names: string[]): Check => [
  (value) => typeof value === 'string' && names.includes(value),
  `one of ${names.join(', ')}`,
]

const MATCH = oneOf('exact', 'prefix', 'wildcard')

const TIMEOUT = ['timeout', COUNT] as const

const KNOWN = {
  call: new Map([
    TIMEOUT,
    ['disclose_me', FLAG],
    ['forward_identity', FLAG],
    ['forward_trace', FLAG],
    ['transaction_hash', TEXT],
  ]),
  publish: new Map([
    TIMEOUT,
    ['acknowledge', FLAG],
    ['exclude_me', FLAG],
    ['disclose_me', FLAG],
    ['forward_identity', FLAG],
    ['forward_trace', FLAG],
    ['retain', FLAG],
    ['exclude', IDS],
    ['exclude_authid', TEXTS],
    ['exclude_authrole', TEXTS],
    ['eligible', IDS],
    ['eligible_authid', TEXTS],
    ['eligible_authrole', TEXTS],
    ['transaction_hash', TEXT],
  ]),
  subscribe: new Map([TIMEOUT, ['match', MATCH], ['get_retained', FLAG]]),
  register: new Map([
    TIMEOUT,
    ['match', MATCH],
    ['invoke', oneOf('single', 'first', 'last', 'roundrobin', 'random')],
    ['concurrency', POSITIVE],
    ['force_reregister', FLAG],
    ['disclose_caller', FLAG],
    ['forward_timeout', FLAG],
  ]),
} as const satisfies Record<OptionsKind, ReadonlyMap<string, Check>>

/** Times beyond the bound of the platform's timers count as infinite. */
const LONGEST_MS = 2 ** 31 - 1

const split = (kind: OptionsKind, options: ValueMap): CheckedOptions => {
  const timeout = ownValue(options, 'timeout')
  const match = ownValue(options, 'match')
  const own = withoutOurs(options)
  return {
    sent: kind === 'publish' ? { ...HEARD_BY_ALL, ...own, acknowledge: true } : own,
    timeoutMs: typeof timeout === 'number' ? Math.min(timeout, LONGEST_MS) : 0,
    forwardsIdentity: ownValue(options, 'forward_identity') === true,
    forwardsTrace: ownValue(options, 'forward_trace') === true,
    match: match === 'prefix' || match === 'wildcard' ? match : 'exact',
  }
}

/**
 * The publisher is the gateway's session, and so are the subscribers for event streams and callbacks: without this,
 * routers would exclude them from what another client publishes in the same session.
 */
const HEARD_BY_ALL: ValueMap = { exclude_me: false }

const OURS: ReadonlySet<string> = new Set(['timeout', 'forward_identity', 'forward_trace'])

const withoutOurs = (options: ValueMap): ValueMap =>
  Object.keys(options).some((name) => OURS.has(name))
    ? Object.fromEntries(Object.entries(options).filter(([name]) => !OURS.has(name)))
    : options
