// Compiles a read of the context to a closure that finds the value. The hot path: specialised by the number of keys,
// own keys only; an explanation is made on failure alone.

import { createInterner } from '../../base/intern.ts'
import { ExpressionError, showSource } from './errors.ts'
import { explainMissing, lookup, ownValue } from './lookup.ts'
import { sourceOf } from './source.ts'
import type { ReadTemplate, Root } from './template.ts'
import type { Value, ValueMap } from './value.ts'

/** The roots a template may read; one that is left out is empty. */
interface Roots {
  readonly request: ValueMap
  readonly action: ValueMap
  readonly security: ValueMap
  readonly refusal?: ValueMap
  readonly status_codes?: ValueMap
}

type Read = (context: Roots) => Value

const prepareReader = (template: ReadTemplate): Read => {
  const { root, keys } = template
  const [first, second, third, ...rest] = keys
  if (first === undefined) return TOPS[root]
  const top = topReader(root, first)
  if (second === undefined) return (context) => top(context) ?? nullOrMissing(template, context)
  if (third === undefined) {
    return (context) => ownValue(top(context), second) ?? nullOrMissing(template, context)
  }
  if (rest.length === 0) {
    return (context) =>
      ownValue(ownValue(top(context), second), third) ?? nullOrMissing(template, context)
  }
  const inner = keys.slice(1)
  return (context) => {
    let value = top(context)
    for (const key of inner) value = ownValue(value, key)
    return value ?? nullOrMissing(template, context)
  }
}

/** The reader throws ExpressionError naming the key that is missing. */
export const reader = (template: ReadTemplate): Read =>
  intern(JSON.stringify([template.root, template.keys]), () => prepareReader(template))

/** `request.method` is read by thousands of operations. */
const intern = createInterner<Read>()

type TryRead = (context: Roots) => Value | undefined

/** Reads the first key. Keys that every context has are read by name: one shape, half the time of a look-up. */
const topReader = (root: Root, key: string): TryRead => {
  const top = TOPS[root]
  return NAMED.get(`${root}.${key}`) ?? ((context) => ownValue(top(context), key))
}

const TOPS = {
  request: (context) => context.request,
  action: (context) => context.action,
  security: (context) => context.security,
  refusal: (context) => context.refusal ?? {},
  status_codes: (context) => context.status_codes ?? {},
} as const satisfies Record<Root, (context: Roots) => ValueMap>

/** None of these is a member of any prototype, so a value found is the context's own. */
const NAMED: ReadonlyMap<string, TryRead> = new Map<string, TryRead>([
  ['request.id', ({ request }) => request['id']],
  ['request.method', ({ request }) => request['method']],
  ['request.path', ({ request }) => request['path']],
  ['request.scheme', ({ request }) => request['scheme']],
  ['request.host', ({ request }) => request['host']],
  ['request.port', ({ request }) => request['port']],
  ['request.language', ({ request }) => request['language']],
  ['request.query_string', ({ request }) => request['query_string']],
  ['request.query_params', ({ request }) => request['query_params']],
  ['request.bindings', ({ request }) => request['bindings']],
  ['request.headers', ({ request }) => request['headers']],
  ['request.body', ({ request }) => request['body']],
  ['action.result', ({ action }) => action['result']],
  ['action.error', ({ action }) => action['error']],
])

/** The slow end of every read: a null that is present is a value, anything else is an error. */
const nullOrMissing = (template: ReadTemplate, context: Roots): Value => {
  const { root, keys } = template
  const top = TOPS[root](context)
  const value = lookup(top, keys)
  if (value !== undefined) return value
  const reason = explainMissing(top, keys, root)
  throw new ExpressionError(`${showSource(sourceOf(template))}: ${reason}`, {
    template,
    isMissing: true,
  })
}
