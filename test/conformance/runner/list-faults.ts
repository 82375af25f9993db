// Compares what came with what a case expects, and lists the differences as texts: none means that all is right.

import { bigBytes, GZIPPED } from '../../support/echo-behaviours.ts'
import type { EchoUpstream } from '../../support/echo-upstream.ts'
import { headerValues, type RawResponse } from '../../support/raw-client.ts'
import type { Expectation, UpstreamExpectation } from './case-file.ts'
import { isList, isMap, shorten, type Json, type JsonMap } from './json.ts'
import { mismatches, patternOf } from './match.ts'
import { decodeMsgpack } from './msgpack.ts'

export interface StepResult {
  readonly responses: readonly RawResponse[]
  readonly elapsedMs: number
  /** The gateway has closed the connection of a `raw` step. */
  readonly closed: boolean
}

export type Upstreams = readonly [first: EchoUpstream, second: EchoUpstream]

/** Faults of an outcome; of several expectations (`any_of`) those of the one that fits best. */
export const listFaults = (
  expect: Expectation,
  outcome: StepResult,
  upstreams: Upstreams,
): string[] => {
  const results = (expect.any_of ?? [expect]).map((option) => [
    ...connectionFaults(option, outcome),
    ...responseFaults(option, outcome.responses[0]),
    ...upstreamFaults(option, upstreams),
  ])
  return results.reduce((best, faults) => (faults.length < best.length ? faults : best))
}

/** Faults in what the upstreams have seen so far. */
export const upstreamFaults = (expect: Expectation, upstreams: Upstreams): string[] =>
  (expect.upstream ?? []).flatMap((want) => {
    const seen = upstreams[(want.on ?? 1) - 1]?.seen(pathTest(want)) ?? []
    const name = want.path ?? want.path_match ?? ''
    const count =
      want.count === undefined || want.count === seen.length
        ? []
        : [`upstream: expected ${want.count} requests for ${name}, saw ${seen.length}`]
    return [...count, ...(want.last === undefined ? [] : lastFaults(want.last, seen.at(-1)))]
  })

const pathTest = (want: UpstreamExpectation): ((path: string) => boolean) => {
  if (want.path !== undefined) return (path) => path === want.path
  const pattern = patternOf(want.path_match ?? '')
  return (path) => pattern.test(path)
}

const lastFaults = (want: JsonMap, last: unknown): string[] =>
  last === undefined
    ? ['upstream: saw no such request']
    : mismatches(want, last as Json, { at: 'upstream', subset: true })

const connectionFaults = (
  expect: Expectation,
  { responses, elapsedMs, closed }: StepResult,
): string[] => {
  const faults: string[] = []
  const got = responses.map(({ status }) => status)
  const counts = [expect.answers ?? got.length].flat()
  if (!counts.includes(got.length)) {
    faults.push(`answers: expected ${counts.join(' or ')}, got ${got.length}: ${shorten(got)}`)
  }
  if (expect.statuses !== undefined && expect.statuses.join() !== got.join()) {
    faults.push(`statuses: expected ${shorten(expect.statuses)}, got ${shorten(got)}`)
  }
  if (expect.closed === true && !closed) faults.push('the connection was left open')
  const { at_least_ms: atLeastMs = 0 } = expect
  if (elapsedMs < atLeastMs)
    faults.push(`time: expected at least ${atLeastMs} ms, took ${elapsedMs.toFixed(0)} ms`)
  return faults
}

const responseFaults = (expect: Expectation, response: RawResponse | undefined): string[] => {
  if (response === undefined) {
    const words = ['status', 'headers', 'json', 'json_has', 'text', 'error']
    return words.some((word) => word in expect)
      ? ['the connection was closed without a response']
      : []
  }
  const [first, ...rest] = [
    ...statusFaults(expect, response),
    ...Object.entries(expect.headers ?? {}).flatMap(([name, want]) =>
      headerFaults(name, want, response),
    ),
    ...bodyFaults(expect, response.body),
    ...valueFaults(expect, response),
  ]
  if (first === undefined) return []
  return [`${first} [${response.status} ${shorten(response.body.toString(), 220)}]`, ...rest]
}

const statusFaults = ({ status }: Expectation, response: RawResponse): string[] => {
  if (status === undefined) return []
  const options = [status].flat()
  const fits = options.some((want) =>
    typeof want === 'string'
      ? patternOf(want).test(String(response.status))
      : want === response.status,
  )
  return fits ? [] : [`status: expected ${options.join(' or ')}, got ${response.status}`]
}

const headerFaults = (name: string, want: Json, response: RawResponse): string[] => {
  const at = `header ${name}`
  const values = headerValues(response, name)
  if (want === null)
    return values.length === 0 ? [] : [`${at}: expected none, got ${shorten(values)}`]
  if (isList(want) || isListPattern(want)) return mismatches(want, values, { at, subset: false })
  if (values.length === 0) return [`${at}: missing, expected ${shorten(want)}`]
  return isMap(want)
    ? wordFaults(at, want, values)
    : mismatches(want, values.join(', '), { at, subset: false })
}

const isListPattern = (want: Json): boolean =>
  isMap(want) && Object.keys(want).every((key) => key === '@some' || key === '@one_of')

/** `{has, has_not}`: words of a comma list, in any case. */
const wordFaults = (at: string, want: JsonMap, values: readonly string[]): string[] => {
  const words = values.flatMap((value) => value.split(',')).map((word) => word.trim().toLowerCase())
  const listed = (key: string): string[] => (isList(want[key]) ? want[key].map(String) : [])
  return [
    ...listed('has')
      .filter((word) => !words.includes(word.toLowerCase()))
      .map((word) => `${at}: ${word} is missing in ${shorten(values)}`),
    ...listed('has_not')
      .filter((word) => words.includes(word.toLowerCase()))
      .map((word) => `${at}: ${word} is too much in ${shorten(values)}`),
  ]
}

const bodyFaults = (expect: Expectation, body: Buffer): string[] => {
  const text = body.toString()
  const faults: string[] = []
  if (expect.empty === true && body.length > 0)
    faults.push(`body: expected none, got ${shorten(text)}`)
  if (expect.text !== undefined)
    faults.push(...mismatches(expect.text, text, { at: 'body', subset: false }))
  if (expect.not_text !== undefined && patternOf(expect.not_text).test(text)) {
    faults.push(`body: must not match /${expect.not_text}/, got ${shorten(text)}`)
  }
  return [...faults, ...byteFaults(expect, body)]
}

const byteFaults = (expect: Expectation, body: Buffer): string[] => {
  const faults: string[] = []
  const { big_bytes: count, hex, max_bytes: most = Infinity } = expect
  if (count !== undefined && !body.equals(bigBytes(count))) {
    faults.push(`body: expected the ${count} bytes of the upstream, got ${body.length} other bytes`)
  }
  if (hex !== undefined && !body.equals(hex === 'gzip' ? GZIPPED : Buffer.from(hex, 'hex'))) {
    faults.push(`body: expected bytes ${hex}, got ${body.toString('hex', 0, 64)}`)
  }
  if (body.length > most) faults.push(`body: expected at most ${most} bytes, got ${body.length}`)
  return faults
}

const ERROR_RECORD = { code: '@string', message: '@string', description: '@string' }

const valueFaults = (expect: Expectation, response: RawResponse): string[] => {
  if (!['json', 'json_has', 'error', 'msgpack'].some((word) => word in expect)) return []
  const types = headerValues(response, 'content-type')
  const packed = types.some((type) => type.includes('msgpack'))
  if (expect.msgpack !== undefined && !packed) {
    return [`content-type: expected msgpack, got ${shorten(types)}`]
  }
  const decoded = decode(response.body, packed)
  if ('trouble' in decoded) {
    const kind = packed ? 'msgpack' : 'JSON'
    return [`body: not ${kind} (${decoded.trouble}): ${shorten(response.body.toString())}`]
  }
  const { value } = decoded
  return [
    ...errorFaults(expect.error, value),
    ...when(expect.json, (want) => mismatches(want, value, { at: 'body', subset: false })),
    ...when(expect.json_has, (want) => mismatches(want, value, { at: 'body', subset: true })),
    ...when(expect.msgpack, (want) => mismatches(want, value, { at: 'body', subset: false })),
  ]
}

type Decoded = { readonly value: Json } | { readonly trouble: string }

const decode = (body: Buffer, packed: boolean): Decoded => {
  try {
    if (packed) return { value: decodeMsgpack(body) }
    return { value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as Json }
  } catch (error) {
    return { trouble: (error as Error).message }
  }
}

const errorFaults = (want: true | string | undefined, value: Json): string[] => {
  if (want === undefined) return []
  const faults = mismatches(ERROR_RECORD, value, { at: 'error record', subset: true })
  if (want === true || !isMap(value)) return faults
  return [...faults, ...mismatches(want, value['code'] ?? null, { at: 'error code', subset: true })]
}

const when = (want: Json | undefined, check: (want: Json) => string[]): string[] =>
  want === undefined ? [] : check(want)
