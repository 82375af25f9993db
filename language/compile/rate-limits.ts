// Compiles `rate_limits`: how many requests may come, by name and counted by what. Each level adds limits to those above it,
// replaces them by name, or removes them.

import { childPointer } from '../../base/json-pointer.ts'
import { kindOf } from '../expression/errors.ts'
import { INVALID } from '../expression/fold.ts'
import { childrenOf } from '../expression/children.ts'
import { readsOf } from '../expression/reads.ts'
import { constant, type PipeArgument, type Template } from '../expression/template.ts'
import type { ValueMap } from '../expression/value.ts'
import {
  type DocumentSchema,
  HOLDS_EXPRESSION,
  instead,
  integer,
  key,
  MAP,
  ref,
  restrictingKey,
} from '../schema/document-notation.ts'
import type { CompiledRateLimit, RateLimits } from './compiled.ts'
import type { Diagnostics } from './diagnostics.ts'
import {
  type IntegerRange,
  type Placed,
  readInteger,
  readIntegerOrWait,
  toFoldedMap,
} from './folded.ts'
import type { Find } from './inheritance.ts'
import type { InheritedPart, PartDeps } from './operation-part.ts'

const COUNT: IntegerRange = { minimum: 0, maximum: 1_000_000_000 }
const BURST: IntegerRange = { minimum: 1, maximum: 1_000_000_000 }
const SECONDS: IntegerRange = { minimum: 1, maximum: 86_400 }
const NAME = /^[A-Za-z0-9_.-]{1,64}$/
const MOST_LIMITS = 16

/** The definitions that the schema of the key refers to. */
const RATE_LIMIT_SCHEMAS = {
  rateLimits: {
    ...MAP,
    description: 'Limits by name; an empty map removes one that is inherited.',
    additionalProperties: ref('rateLimit'),
  },
  rateLimit: {
    ...MAP,
    description: 'A token bucket: full at first, refilled steadily.',
    properties: {
      requests: key('Requests that may come within `seconds`; 0: none.', integer(COUNT), {
        examples: [100],
      }),
      seconds: key('The time in which the bucket is refilled.', integer(SECONDS), {
        examples: [60],
      }),
      by: key(
        'What is counted apart: an expression; the address of the client, a /64 of IPv6, when left out.',
        { type: ['string', 'number', 'boolean'] },
        { examples: ['{{security.authid}}'] },
      ),
      burst: key('Requests that may come at once; as `requests` when left out.', integer(BURST)),
      cost: key('How much a request counts; 1 when left out.', integer(COUNT)),
    },
    additionalProperties: false,
  },
} satisfies Readonly<Record<string, DocumentSchema>>

/** Requests that no operation serves are not counted; those of the version are for `/ws` and logins. */
export const RATE_LIMITS_PART: InheritedPart<'rateLimits'> = {
  definitions: RATE_LIMIT_SCHEMAS,
  of: { operation: true, path: false, unmatched: true },
  keys: {
    rate_limits: {
      on: ['operation', 'path'],
      schema: restrictingKey(
        'How many requests may come, by name. All must allow a request, else 429.',
        ref('rateLimits'),
        {
          wished: instead(
            "how many requests may come is said by 'rate_limits'",
            'limit',
            'limits',
            'ratelimit',
            'ratelimiting',
            'throttle',
            'throttling',
            'quota',
          ),
        },
      ),
    },
    rate_limit_headers: {
      on: ['operation', 'path'],
      schema: key('Whether responses have RateLimit and RateLimit-Policy.', {
        type: ['boolean', 'string'],
        ...HOLDS_EXPRESSION,
        default: true,
      }),
    },
  },
  compile: (find, deps) => compileRateLimits(find, deps),
  map: (rateLimits, change) => rateLimits && mapRateLimits(rateLimits, change),
  describe: (rateLimits) => (rateLimits === undefined ? {} : describeRateLimits(rateLimits)),
}

/** undefined: there are none. */
const compileRateLimits = (
  find: Find,
  { diagnostics, countsAlone }: PartDeps,
): RateLimits | undefined => {
  const levels = find.all('rate_limits')
  if (levels.length === 0) return undefined
  const limits = new Map<string, CompiledRateLimit>()
  for (const placed of levels.toReversed())
    for (const [name, limit] of limitsAt(placed, diagnostics))
      if (limit === undefined) limits.delete(name)
      else limits.set(name, limit)
  if (limits.size === 0) return undefined
  const [nearest] = levels
  if (limits.size > MOST_LIMITS && nearest !== undefined)
    diagnostics.problem('invalid_value', nearest.pointer, `expected at most ${MOST_LIMITS} limits`)
  if (countsAlone)
    for (const { pointer } of limits.values())
      diagnostics.warning('CountedPerGateway', pointer, COUNTED_PER_GATEWAY)
  return {
    limits: [...limits.values()],
    hasHeaders: readHeaders(find('rate_limit_headers'), diagnostics),
  }
}

/** What every gateway says of a limit that it does not share with others. */
export const COUNTED_PER_GATEWAY =
  'each gateway counts for itself, so N gateways let N times as much through: give them one Redis (--redis), or divide the numbers by how many there are'

/** Limits at one level, in its order; undefined: it is removed, or was reported as a problem. */
type LevelLimits = readonly (readonly [string, CompiledRateLimit | undefined])[]

/** A level is compiled once for all paths below it. */
const compiled = new WeakMap<Placed, LevelLimits>()

const limitsAt = (placed: Placed, diagnostics: Diagnostics): LevelLimits => {
  const known = compiled.get(placed)
  if (known !== undefined) return known
  const map = toFoldedMap(placed.template, placed.pointer, diagnostics)
  const names = map?.keys ?? []
  const limits = names.map((name) => {
    const pointer = childPointer(placed.pointer, name)
    if (!NAME.test(name))
      diagnostics.problem(
        'invalid_value',
        pointer,
        'a limit is called by 1 to 64 letters, digits, _, . and -',
      )
    const template = map?.get(name)
    return [name, template && compileLimit(name, { template, pointer }, diagnostics)] as const
  })
  compiled.set(placed, limits)
  return limits
}

const compileLimit = (
  name: string,
  { template, pointer }: Placed,
  diagnostics: Diagnostics,
): CompiledRateLimit | undefined => {
  const map = toFoldedMap(template, pointer, diagnostics)
  if (map === undefined || map.keys.length === 0) return undefined
  const at = (key: string): string => childPointer(pointer, key)
  const lacks = ['requests', 'seconds'].filter((key) => !map.keys.includes(key))
  for (const key of lacks)
    diagnostics.problem('missing_required_value', at(key), `a limit needs ${key}`)
  const count = (key: string): Template | undefined => {
    const member = map.get(key)
    return member && readIntegerOrWait(member, at(key), COUNT, diagnostics)
  }
  const whole = (key: string, range: IntegerRange): number | undefined => {
    const member = map.get(key)
    return member && readInteger(member, at(key), range, diagnostics)
  }
  const requests = count('requests')
  const seconds = whole('seconds', SECONDS)
  const burst = whole('burst', BURST)
  const cost = count('cost') ?? constant(1)
  const by = map.get('by')
  if (by !== undefined) checkKey(by, at('by'), diagnostics)
  if (requests === undefined || seconds === undefined) return undefined
  for (const [key, member] of Object.entries({ requests, cost, by })) {
    if (member === undefined) continue
    refuseReads(member, at(key), diagnostics)
    warnOfMissing(member, key, at(key), diagnostics)
  }
  const isEarly = ![requests, cost, by].some(
    (member) => member !== undefined && readsCaller(member),
  )
  return {
    name,
    pointer,
    requests,
    seconds,
    cost,
    isEarly,
    ...(burst === undefined ? {} : { burst }),
    ...(by === undefined ? {} : { by }),
  }
}

const checkKey = (by: Template, pointer: string, diagnostics: Diagnostics): void => {
  const isKnownWrong =
    by.kind === 'map' ||
    by.kind === 'list' ||
    (by.kind === 'constant' && (typeof by.value === 'object' || by.value === ''))
  if (!isKnownWrong || by === INVALID) return
  const found = by.kind === 'constant' ? kindOf(by.value) : `a ${by.kind}`
  diagnostics.problem('invalid_datatype', pointer, `expected a text, got ${found}`)
}

/** Limits are checked before the body is read and anything is done. */
const refuseReads = (template: Template, pointer: string, diagnostics: Diagnostics): void => {
  for (const read of readsOf(template))
    if (read === 'request' || read === 'request.body' || read === 'request.body_length')
      diagnostics.problem(
        'invalid_expression',
        pointer,
        `${read} can't be read here: limits are checked before the body is read`,
      )
}

const readsCaller = (template: Template): boolean =>
  readsOf(template).some((read) => read.split('.')[0] === 'security')

const warnOfMissing = (
  template: Template,
  name: string,
  pointer: string,
  diagnostics: Diagnostics,
): void => {
  const missing = missingRead(template)
  if (missing === undefined) return
  const consequence =
    name === 'by' ? 'all requests without it are counted together' : 'it counts as 1 without it'
  diagnostics.warning(
    'SuspiciousExpression',
    pointer,
    `not every request has ${missing}, and ${consequence}: read it with get and a default`,
  )
}

/** What only some requests have, and is read without a default. */
const missingRead = (template: PipeArgument): string | undefined => {
  switch (template.kind) {
    case 'constant':
    case 'piped':
      return undefined
    case 'read': {
      const [field = '', name] = template.keys
      const isOptional = OPTIONAL[template.root]?.includes(field) === true && name !== undefined
      return isOptional ? [template.root, ...template.keys].join('.') : undefined
    }
    case 'map':
    case 'list':
    case 'text':
    case 'pipe':
      return childrenOf(template)
        .map(missingRead)
        .find((found) => found !== undefined)
  }
}

const OPTIONAL: Readonly<Partial<Record<string, readonly string[]>>> = {
  request: ['headers', 'query_params'],
  security: ['meta'],
}

const readHeaders = (placed: Placed | undefined, diagnostics: Diagnostics): boolean => {
  if (placed === undefined || placed.template === INVALID) return true
  const { template, pointer } = placed
  if (template.kind === 'constant' && typeof template.value === 'boolean') return template.value
  diagnostics.problem('invalid_datatype', pointer, 'expected true or false, known at load')
  return true
}

const mapRateLimits = <A, B>(
  { limits, hasHeaders }: RateLimits<A>,
  change: (template: A) => B,
): RateLimits<B> => ({
  limits: limits.map(({ requests, cost, by, ...limit }) => ({
    ...limit,
    requests: change(requests),
    cost: change(cost),
    ...(by === undefined ? {} : { by: change(by) }),
  })),
  hasHeaders,
})

const describeRateLimits = <T>({ limits, hasHeaders }: RateLimits<T>): ValueMap => ({
  rate_limits: Object.fromEntries(
    limits.map(({ name, requests, seconds, burst, cost, by, isEarly }) => [
      name,
      {
        requests,
        seconds,
        ...(burst !== undefined && { burst }),
        by: by ?? 'the address of the client',
        cost,
        checked: isEarly ? 'before authentication' : 'after authentication',
      },
    ]),
  ) as ValueMap,
  ...(!hasHeaders && { rate_limit_headers: false }),
})
