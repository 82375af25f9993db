// Compiles limits and time-outs (§8, behaviour §2): the nearest level that sets one wins; a limit that no level sets
// has the default of the table below.

import type { BodyLimits, CallLimits } from './compiled.ts'
import { constant, type Template } from '../expression/template.ts'
import { integer, key, ref, restrictingKey } from '../schema/document-notation.ts'
import type { Diagnostics } from './diagnostics.ts'
import { type IntegerRange, readInteger, readIntegerOrWait } from './folded.ts'
import type { Find } from './inheritance.ts'
import { type InheritedPart, OF_OPERATIONS } from './operation-part.ts'
import { warnOfShortTimeout } from './short-timeout.ts'

const DEFAULT_MAX_BYTES = 25_000_000
const DEFAULT_READ_BYTES = 8_000_000
const DEFAULT_READ_SECONDS = 15
const DEFAULT_CONNECT_TIMEOUT_MS = 8000
const DEFAULT_RETRY_TIMEOUT_MS = 5000
/** From this value on, `body_read_seconds` is read as milliseconds, as existing documents have it. */
const MILLISECONDS_FROM = 1000

const ONE_DAY_MS = 86_400_000

const MAX_BYTES: IntegerRange = { minimum: 0 }
const READ_BYTES: IntegerRange = { minimum: 1 }
const DURATION: IntegerRange = { minimum: 1, maximum: ONE_DAY_MS }
const RETRIES: IntegerRange = { minimum: 0, maximum: 100 }
const RETRY_TIMEOUT: IntegerRange = { minimum: 0, maximum: ONE_DAY_MS }

/** The limits of body and calls. */
const LIMIT_SCHEMAS = {
  byteCount: { ...integer(MAX_BYTES), description: 'A number of bytes.' },
  bufferBytes: { ...integer(READ_BYTES), description: 'A number of bytes, at least one.' },
  readSeconds: { ...integer(DURATION), description: 'Seconds, or milliseconds from 1000 on.' },
  milliseconds: { ...integer(DURATION), description: 'Milliseconds, at most a day.' },
  retryTimeout: { ...integer(RETRY_TIMEOUT), description: 'Milliseconds, at most a day.' },
  retries: { ...integer(RETRIES), description: 'A number of attempts.' },
}

const ON_OPERATIONS = ['operation', 'path'] as const
const ON_ACTIONS = ['action', ...ON_OPERATIONS] as const

/** Bounds of what a client may send. A buffer is ours: a gateway that ignored its size would refuse nobody less. */
export const BODY_PART: InheritedPart<'body'> = {
  of: OF_OPERATIONS,
  definitions: LIMIT_SCHEMAS,
  keys: {
    body_max_bytes: {
      on: ON_OPERATIONS,
      schema: restrictingKey(
        'Largest request body in bytes; 25 000 000 when nothing is set.',
        ref('byteCount'),
      ),
    },
    body_max_byte: {
      on: ON_OPERATIONS,
      schema: restrictingKey('Another spelling of body_max_bytes.', ref('byteCount')),
    },
    body_read_bytes: {
      on: ON_OPERATIONS,
      schema: key(
        'The most bytes that are buffered of a streamed body; 8 000 000 when nothing is set.',
        ref('bufferBytes'),
      ),
    },
    body_read_seconds: {
      on: ON_OPERATIONS,
      schema: restrictingKey(
        'Seconds that reading a body may take; a value of 1000 or more is taken as milliseconds. 15 when nothing is set.',
        ref('readSeconds'),
      ),
    },
  },
  compile: (find, { diagnostics }) => compileBodyLimits(find, diagnostics),
  map: 'plain',
  describe: ({ maxBytes, readBytes, readMs }) => ({
    limits: { body_max_bytes: maxBytes, body_read_bytes: readBytes, body_read_ms: readMs },
  }),
}

export const CALL_LIMITS_PART: InheritedPart<'limits'> = {
  of: OF_OPERATIONS,
  keys: {
    timeout: {
      on: ON_ACTIONS,
      schema: key(
        "Milliseconds a call may take; the realm's call timeout when nothing is set.",
        ref('milliseconds'),
        { examples: [5000] },
      ),
    },
    connect_timeout: {
      on: ON_ACTIONS,
      schema: key(
        'Milliseconds that connecting to the upstream may take; 8000 when nothing is set.',
        ref('milliseconds'),
      ),
    },
    retries: {
      on: ON_ACTIONS,
      schema: key('Further attempts after a failed one; 0 when nothing is set.', ref('retries'), {
        examples: [2],
      }),
    },
    retry_timeout: {
      on: ON_ACTIONS,
      schema: key(
        "Milliseconds from the first attempt to the last one's start; 5000 when nothing is set.",
        ref('retryTimeout'),
      ),
    },
  },
  compile: (find, { diagnostics }) => compileCallLimits(find, diagnostics),
  map: (limits, change) => mapLimits(limits, change),
  describe: ({ timeout, connectTimeout, retries, retryTimeout }) => ({
    limits: {
      ...(timeout !== undefined && { timeout }),
      connect_timeout: connectTimeout,
      retries,
      retry_timeout: retryTimeout,
    },
  }),
}

const compileBodyLimits = (find: Find, diagnostics: Diagnostics): BodyLimits => {
  const known = (range: IntegerRange, ...names: readonly string[]): number | undefined => {
    const placed = find(...names)
    return placed && readInteger(placed.template, placed.pointer, range, diagnostics)
  }
  const seconds = find('body_read_seconds')
  const readSeconds = known(DURATION, 'body_read_seconds')
  const isMilliseconds = readSeconds !== undefined && readSeconds >= MILLISECONDS_FROM
  if (isMilliseconds && seconds !== undefined)
    diagnostics.warning(
      'MillisecondsAssumed',
      seconds.pointer,
      `body_read_seconds: ${readSeconds} is taken as milliseconds`,
    )
  return {
    maxBytes: known(MAX_BYTES, 'body_max_bytes', 'body_max_byte') ?? DEFAULT_MAX_BYTES,
    readBytes: known(READ_BYTES, 'body_read_bytes') ?? DEFAULT_READ_BYTES,
    readMs: isMilliseconds ? readSeconds : (readSeconds ?? DEFAULT_READ_SECONDS) * 1000,
  }
}

const compileCallLimits = (find: Find, diagnostics: Diagnostics): CallLimits => {
  const limit = (name: string, range: IntegerRange): Template | undefined => {
    const placed = find(name)
    const read = placed && readIntegerOrWait(placed.template, placed.pointer, range, diagnostics)
    if (placed !== undefined && read !== undefined && name !== 'retries')
      warnOfShortTimeout(read, placed.pointer, diagnostics)
    return read
  }
  const timeout = limit('timeout', DURATION)
  return {
    ...(timeout === undefined ? {} : { timeout }),
    connectTimeout: limit('connect_timeout', DURATION) ?? constant(DEFAULT_CONNECT_TIMEOUT_MS),
    retries: limit('retries', RETRIES) ?? constant(0),
    retryTimeout: limit('retry_timeout', RETRY_TIMEOUT) ?? constant(DEFAULT_RETRY_TIMEOUT_MS),
  }
}

const mapLimits = <A, B>(
  { timeout, connectTimeout, retries, retryTimeout }: CallLimits<A>,
  change: (template: A) => B,
): CallLimits<B> => ({
  ...(timeout === undefined ? {} : { timeout: change(timeout) }),
  connectTimeout: change(connectTimeout),
  retries: change(retries),
  retryTimeout: change(retryTimeout),
})
