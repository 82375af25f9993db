// Compiles the actions that ask a WAMP router (§2.5, behaviour §4): their compiled forms, and how their members are
// read and mapped.

import { ownValue } from '../expression/lookup.ts'
import { constant, type Template } from '../expression/template.ts'
import { childPointer } from '../../base/json-pointer.ts'
import { isWampPattern, type WampMatch } from '../wamp-uri.ts'
import { presentName, requiredText, shapeMember, textMember } from './action-members.ts'
import type { Diagnostics } from './diagnostics.ts'
import type { FoldedMap } from './folded.ts'
import { type ActionSchema, key, type Keys, ref } from '../schema/document-notation.ts'
import { warnOfShortTimeout } from './short-timeout.ts'

const PLAIN = ['wampUri', ': parts separated by dots, none empty, no blanks, no #.'] as const
const PATTERN = [
  'wampPattern',
  ', or what options.match makes of it: the last part of a prefix, and any part of a wildcard, may be empty.',
] as const

const procedure = ([definition, rule]: typeof PLAIN | typeof PATTERN): Keys => ({
  procedure: key(`URI of the procedure${rule}`, ref(definition), {
    examples: ['com.example.orders.get'],
  }),
})

const topic = ([definition, rule]: typeof PLAIN | typeof PATTERN): Keys => ({
  topic: key(`URI of the topic${rule}`, ref(definition), {
    examples: ['com.example.orders.created'],
  }),
  procedure: key('Another name for topic.', ref(definition)),
})

const NEEDS_TOPIC = {
  if: { not: { required: ['topic'] } },
  then: { required: ['procedure'] },
}

/** Their keys beside those of all WAMP actions. */
export const WAMP_KEYS = {
  wamp_call: {
    description: 'Calls a procedure of the realm.',
    shares: 'wamp',
    snippet: { procedure: '${1:com.example.orders.get}' },
    own: procedure(PLAIN),
    required: ['procedure'],
  },
  wamp_publish: {
    description: 'Publishes to a topic of the realm, acknowledged.',
    shares: 'wamp',
    snippet: { topic: '${1:com.example.orders}' },
    own: topic(PLAIN),
    ...NEEDS_TOPIC,
  },
  wamp_subscribe: {
    description:
      'Answers with a stream of server-sent events, one for each publication to a topic; with kwargs.callback each is posted to that URL instead.',
    shares: 'wamp',
    snippet: { topic: '${1:com.example.orders}' },
    own: topic(PATTERN),
    ...NEEDS_TOPIC,
  },
  wamp_unsubscribe: {
    description: 'Ends a subscription that was made with a callback.',
    shares: 'wamp',
    snippet: { args: ['${1:{{request.bindings.id}}}'] },
    own: topic(PATTERN),
  },
  wamp_register: {
    description:
      'Registers a procedure whose invocations are posted to the URL in kwargs.callback.',
    shares: 'wamp',
    snippet: {
      procedure: '${1:com.example.orders.get}',
      kwargs: { callback: '${2:http://orders:8080}' },
    },
    own: procedure(PATTERN),
    required: ['procedure'],
  },
  wamp_unregister: {
    description: 'Ends a registration: args holds its id.',
    shares: 'wamp',
    snippet: { args: ['${1:{{request.bindings.id}}}'] },
    own: procedure(PATTERN),
  },
} as const satisfies Readonly<Record<string, ActionSchema>>

/** What all WAMP actions share. */
interface WampMembers<T> {
  readonly options: T
  readonly args: T
  readonly kwargs: T
}

/** `uri` is the procedure or topic. */
interface WithUri<K, T> extends WampMembers<T> {
  readonly type: K
  readonly uri: T
}

/** Whose id stands in `args`: a procedure or topic has no effect. */
interface WithOptionalUri<K, T> extends WampMembers<T> {
  readonly type: K
  readonly uri?: T
}

export type WampCallAction<T = Template> = WithUri<'wamp_call', T>
export type WampPublishAction<T = Template> = WithUri<'wamp_publish', T>
export type WampSubscribeAction<T = Template> = WithUri<'wamp_subscribe', T>
export type WampRegisterAction<T = Template> = WithUri<'wamp_register', T>
export type WampUnsubscribeAction<T = Template> = WithOptionalUri<'wamp_unsubscribe', T>
export type WampUnregisterAction<T = Template> = WithOptionalUri<'wamp_unregister', T>

type UriType = 'wamp_call' | 'wamp_publish' | 'wamp_subscribe' | 'wamp_register'

type Compile<A> = (map: FoldedMap, diagnostics: Diagnostics) => A | undefined

/** @param names of the procedure or topic: the first of them that is there counts */
export const compilerWithUri =
  <K extends UriType>(type: K, names: readonly string[]): Compile<WithUri<K, Template>> =>
  (map, diagnostics) => {
    const uri = requiredText(map, names, diagnostics)
    const members = compileMembers(map, diagnostics)
    if (uri === undefined) return undefined
    const match = TAKES_PATTERN[type] ? matchOf(members.options) : 'exact'
    checkUri(uri, match, childPointer(map.pointer, presentName(map, names)), diagnostics)
    return { type, uri, ...members }
  }

/** As `compilerWithUri`, where the URI may be left out. */
export const compilerWithOptionalUri =
  <K extends 'wamp_unsubscribe' | 'wamp_unregister'>(
    type: K,
    names: readonly string[],
  ): Compile<WithOptionalUri<K, Template>> =>
  (map, diagnostics) => {
    const name = presentName(map, names)
    const uri = textMember(map, name, diagnostics)
    if (uri !== undefined) checkUri(uri, 'wildcard', childPointer(map.pointer, name), diagnostics)
    return { type, ...(uri === undefined ? {} : { uri }), ...compileMembers(map, diagnostics) }
  }

const compileMembers = (map: FoldedMap, diagnostics: Diagnostics): WampMembers<Template> => {
  const options = shapeMember(map, ['options'], 'map', diagnostics) ?? constant({})
  const timeout = optionOf(options, 'timeout')
  const optionsPointer = childPointer(map.pointer, 'options')
  if (timeout !== undefined)
    warnOfShortTimeout(timeout, childPointer(optionsPointer, 'timeout'), diagnostics)
  return {
    options,
    args: shapeMember(map, ['args', 'arguments'], 'list', diagnostics) ?? constant([]),
    kwargs: shapeMember(map, ['kwargs', 'arguments_kw'], 'map', diagnostics) ?? constant({}),
  }
}

/** Whether `options.match` may make a pattern of the URI. */
const TAKES_PATTERN: Readonly<Record<UriType, boolean>> = {
  wamp_call: false,
  wamp_publish: false,
  wamp_subscribe: true,
  wamp_register: true,
}

/** What `options.match` says; the loosest where only the request knows. */
const matchOf = (options: Template): WampMatch => {
  const match = optionOf(options, 'match')
  if (match?.kind !== 'constant') return match === undefined ? 'exact' : 'wildcard'
  return match.value === 'prefix' || match.value === 'wildcard' ? match.value : 'exact'
}

const optionOf = (options: Template, name: string): Template | undefined => {
  if (options.kind === 'map') return options.entries.find(([key]) => key === name)?.[1]
  if (options.kind !== 'constant') return options
  const value = ownValue(options.value, name)
  return value === undefined ? undefined : constant(value)
}

const checkUri = (
  uri: Template,
  match: WampMatch,
  pointer: string,
  diagnostics: Diagnostics,
): void => {
  if (uri.kind !== 'constant' || typeof uri.value !== 'string') return
  if (isWampPattern(uri.value, match)) {
    warnOfStar(uri.value, match, pointer, diagnostics)
    return
  }
  diagnostics.problem(
    'invalid_value',
    pointer,
    'this is no WAMP URI: its parts, separated by dots, may not be empty nor hold blanks or #',
  )
}

const REMEDIES = {
  exact:
    'where several are meant, a subscription or registration has options: {match: prefix} or {match: wildcard}',
  prefix: 'end it with the dot before, as in com.acme.',
  wildcard: 'leave a part of any text empty, as in com.acme..created',
} as const satisfies Record<WampMatch, string>

/** A part `*`, which other brokers take for any: for WAMP it is a text as any other. */
const warnOfStar = (
  uri: string,
  match: WampMatch,
  pointer: string,
  diagnostics: Diagnostics,
): void => {
  if (!uri.split('.').some((part) => /^\*+$/.test(part))) return
  diagnostics.warning('TakenLiterally', pointer, `'*' is no wildcard in WAMP: ${REMEDIES[match]}`)
}

export const mapWithUri = <K, A, B>(
  action: WithUri<K, A>,
  change: (template: A) => B,
): WithUri<K, B> => ({
  type: action.type,
  uri: change(action.uri),
  ...mapWampMembers(action, change),
})

export const mapWithOptionalUri = <K, A, B>(
  { type, uri, ...members }: WithOptionalUri<K, A>,
  change: (template: A) => B,
): WithOptionalUri<K, B> => ({
  type,
  ...(uri === undefined ? {} : { uri: change(uri) }),
  ...mapWampMembers(members, change),
})

const mapWampMembers = <A, B>(
  { options, args, kwargs }: WampMembers<A>,
  change: (template: A) => B,
): WampMembers<B> => ({ options: change(options), args: change(args), kwargs: change(kwargs) })
