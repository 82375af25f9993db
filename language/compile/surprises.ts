// Warns of what an operation says that is valid and does something else than it seems to: headers by which browsers refuse
// the response, a redirect to wherever a client says, a query string with a question mark, a path without a slash, JSON that
// is put together as text, and retries of what is never retried.

import type { Template } from '../expression/template.ts'
import { usesLimits } from './action.ts'
import type { CompiledOperation } from './compiled.ts'
import { membersOf } from './members.ts'
import type { Keys, WarnAt } from './warn-of-failures.ts'

/** @param setsRetries it says `retries` itself, so that they are not those of other operations */
export const warnOfSurprises = (
  operation: CompiledOperation,
  setsRetries: boolean,
  warn: WarnAt,
): void => {
  if (setsRetries) warnOfIdleRetries(operation, warn)
  warnOfCorsByHand(operation, warn)
  warnOfOpenRedirect(operation, warn)
  warnOfTarget(operation, warn)
  warnOfJsonText(operation, warn)
}

const warnOfIdleRetries = (
  { action, limits: { retries } }: CompiledOperation,
  warn: WarnAt,
): void => {
  const isNone = retries.kind === 'constant' && Number(retries.value) === 0
  if (!isNone && !usesLimits(action))
    warn(
      'UnsuitableValue',
      ['retries'],
      `an action of type '${action.type}' is never retried: leave this out (forward and wamp_call are)`,
    )
}

const ALLOW_ORIGIN = 'access-control-allow-origin'

const warnOfCorsByHand = (
  { cors, headers, onResult, onError }: CompiledOperation,
  warn: WarnAt,
): void => {
  if (cors !== undefined) return
  const inherited = literalsOf(headers)
  const written = [
    [inherited, ['headers']],
    [literalsOf(onResult.headers), ['response', 'on_result', 'headers']],
    [literalsOf(onError.headers), ['response', 'on_error', 'headers']],
  ] as const
  for (const [literals, keys] of written) warnOfOrigin(literals, keys, warn)
  if (!inherited.has(ALLOW_ORIGIN)) return
  for (const [name, given] of [
    ['on_result', onResult.headers],
    ['on_error', onError.headers],
  ] as const)
    if (given !== undefined && !literalsOf(given).has(ALLOW_ORIGIN))
      warn(
        'UnsuitableValue',
        ['response', name, 'headers'],
        `these replace the headers of the path and the defaults, so that browsers do not get ${ALLOW_ORIGIN}: write 'cors' in its place, which every response has`,
      )
}

const warnOfOrigin = (
  literals: ReadonlyMap<string, string | undefined>,
  keys: Keys,
  warn: WarnAt,
): void => {
  const origin = literals.get(ALLOW_ORIGIN)
  if (origin === undefined) return
  if (/[, ]\s*\S/.test(origin))
    warn(
      'UnsuitableValue',
      [...keys, ALLOW_ORIGIN],
      "browsers refuse a response with more than one origin: write 'cors', whose origins are a list",
    )
  else if (origin === '*' && literals.get('access-control-allow-credentials') === 'true')
    warn(
      'UnsuitableValue',
      [...keys, ALLOW_ORIGIN],
      "browsers refuse '*' together with credentials: write 'cors', and name the origins",
    )
}

/** Headers by name in lower case; undefined: the value is not known. */
const literalsOf = (headers: Template | undefined): ReadonlyMap<string, string | undefined> =>
  new Map(
    (headers === undefined ? [] : membersOf(headers)).map(([name, value]) => [
      name.toLowerCase(),
      value.kind === 'constant' && typeof value.value === 'string' ? value.value : undefined,
    ]),
  )

const warnOfOpenRedirect = (
  { action, headers, onResult, onError }: CompiledOperation,
  warn: WarnAt,
): void => {
  const written = [
    [action.type === 'static' ? action.headers : undefined, ['action', 'headers']],
    [headers, ['headers']],
    [onResult.headers, ['response', 'on_result', 'headers']],
    [onError.headers, ['response', 'on_error', 'headers']],
  ] as const
  for (const [given, keys] of written)
    for (const [name, value] of given === undefined ? [] : membersOf(given))
      if (name.toLowerCase() === 'location' && isOpenRedirect(value))
        warn(
          'SuspiciousExpression',
          [...keys, name],
          "an open redirect: a client's link through this API leads to any site that the link names. Write the site and the start of a path before the tag, as in https://shop.example.com/{{…}}, or look the value up in a map of the places there are",
        )
}

/** `//` and `/\\` begin a site too, so that a slash alone decides nothing, nor does a site without one behind it. */
const isOpenRedirect = (value: Template): boolean => {
  const parts = value.kind === 'text' ? value.parts : [value]
  const [first, second] = parts
  if (first === undefined || typeof first !== 'string') return first !== undefined && isGiven(first)
  const decidesSite = /^(?:[a-z][a-z\d+.-]*:)?\/\/[^/?#\\]+[/?#]|^\/[^/\\]|^[?#]/i.test(first)
  return !decidesSite && second !== undefined && typeof second !== 'string' && isGiven(second)
}

/** It is what a link, or the page of another site, puts into the request. */
const isGiven = (template: Template): boolean => {
  if (template.kind === 'pipe')
    return template.calls.every(({ name }) => KEEPS_SITE.has(name)) && isGiven(template.input)
  return (
    template.kind === 'read' &&
    template.root === 'request' &&
    (template.keys[0] === 'query_params' || template.keys[0] === 'body')
  )
}

/** Functions after which a value still is the one that the client has sent. */
const KEEPS_SITE: ReadonlySet<string> = new Set([
  'get',
  'head',
  'first',
  'last',
  'trim',
  'strip',
  'string',
  'str',
  'to_string',
])

const warnOfTarget = ({ action }: CompiledOperation, warn: WarnAt): void => {
  if (action.type !== 'forward') return
  const { path, queryString } = action
  const query = queryString === undefined ? undefined : firstText(queryString)
  if (query?.startsWith('?') === true)
    warn(
      'UnsuitableValue',
      ['action', 'query_string'],
      'the question mark becomes part of the name of the first parameter: leave it out',
    )
  if (path?.kind === 'read' && path.root === 'request' && path.keys[0] === 'bindings')
    warn(
      'AlwaysFails',
      ['action', 'path'],
      `every request fails: a path begins with a slash, and a binding has none: write '/{{request.${path.keys.join('.')}}}'`,
    )
}

const warnOfJsonText = ({ action, onResult, onError }: CompiledOperation, warn: WarnAt): void => {
  const bodies = [
    ['body' in action ? action.body : undefined, ['action', 'body']],
    [onResult.body, ['response', 'on_result', 'body']],
    [onError.body, ['response', 'on_error', 'body']],
  ] as const
  for (const [body, keys] of bodies)
    if (body?.kind === 'text' && looksLikeJson(body.parts))
      warn(
        'SuspiciousExpression',
        keys,
        'JSON that is put together as text: values are not escaped, so that a client may add members. Write a map or list in place of the text, without the outer quotes',
      )
}

const looksLikeJson = (parts: readonly (string | Template)[]): boolean => {
  const [first, last] = [parts[0], parts.at(-1)]
  if (typeof first !== 'string' || typeof last !== 'string') return false
  return (
    (/^\s*\{\s*"/.test(first) && /\}\s*$/.test(last)) ||
    (/^\s*\[/.test(first) && /\]\s*$/.test(last) && /["{]/.test(first))
  )
}

const firstText = (template: Template): string | undefined => {
  if (template.kind === 'constant')
    return typeof template.value === 'string' ? template.value : undefined
  const first = template.kind === 'text' ? template.parts[0] : undefined
  return typeof first === 'string' ? first : undefined
}
