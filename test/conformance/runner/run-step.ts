// Sends a step of a case file, and lists what was wrong with the result. It looks at the gateway from outside only: its
// two listeners, and what the upstreams saw.

import { setTimeout as sleep } from 'node:timers/promises'
import { BrokenError, HungError } from '../../support/byte-stream.ts'
import {
  headerValues,
  openRawClient,
  type Address,
  type RawClient,
  type RawResponse,
} from '../../support/raw-client.ts'
import type { Expectation, LoadSpec, RequestSpec, Step, Target } from './case-file.ts'
import { documentOf, grow, valueAt } from './documents.ts'
import { isMap, spacedJson, type Json, type JsonMap } from './json.ts'
import { listFaults, upstreamFaults, type StepResult, type Upstreams } from './list-faults.ts'
import { patternOf } from './match.ts'
import { CaseError, type Placeholders } from './placeholders.ts'
import { partsOf, requestBytes } from './request-bytes.ts'

/** What the steps of one file share. */
export interface Stage {
  readonly placeholders: Placeholders
  readonly documents: JsonMap
  readonly upstreams: Upstreams
  readonly listeners: Readonly<Record<'public' | 'management', Address>>
  /** Ids and uris to delete when the file is done. */
  readonly loadedIds: Set<string>
  readonly realmUris: Set<string>
}

const TIMEOUT_S = 30
/** Of a connection that is asked to close and takes that for something else. */
const IDLE_MS = 1500
const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' }

/** Runs a step with its repeats, then its sub-steps while all is right. Faults as texts; throws `CaseError`. */
export const runStep = async (stage: Stage, step: Step): Promise<string[]> => {
  const faults = await runOwn(stage, step)
  if (faults.length > 0) return faults
  for (const sub of step.then ?? []) {
    const name = sub.name ?? (typeof sub.request?.path === 'string' ? sub.request.path : '')
    const found = await runStep(stage, inherit(step, sub))
    faults.push(...found.map((fault) => `then ${name}: ${fault}`))
  }
  return faults
}

/** Sends one request and reads its response; throws `HungError` or `BrokenError`. */
export const send = async (
  stage: Stage,
  request: RequestSpec,
  timeoutS = TIMEOUT_S,
): Promise<RawResponse> => {
  const to = request.to ?? 'public'
  const address = addressOf(stage, to)
  const host = to === 'public' ? stage.placeholders.host : `${address.host}:${address.port}`
  await using client = await openRawClient(address, timeoutS * 1000)
  client.send(requestBytes(request, host))
  return await client.response(request.method === 'HEAD')
}

const inherit = (step: Step, sub: Step): Step =>
  step.timeout_s === undefined ? sub : { timeout_s: step.timeout_s, ...sub }

const addressOf = ({ listeners, upstreams }: Stage, to: Target): Address =>
  to === 'upstream' ? { host: '127.0.0.1', port: upstreams[0].port } : listeners[to]

const runOwn = async (stage: Stage, step: Step): Promise<string[]> => {
  if (step.wait_ms !== undefined) {
    await sleep(step.wait_ms)
    return []
  }
  if (step.together !== undefined) {
    const all = await Promise.all(step.together.map((sub) => runStep(stage, inherit(step, sub))))
    return all.flat()
  }
  for (let i = 0; i < (step.repeat ?? 1); i += 1) {
    const faults = await runOnce(stage, step)
    if (faults.length > 0) return faults
  }
  return []
}

const runOnce = async (stage: Stage, step: Step): Promise<string[]> => {
  const expect = expectationOf(stage, step)
  const startedAt = performance.now()
  try {
    const { responses, closed } = await perform(stage, step)
    const outcome: StepResult = { responses, closed, elapsedMs: performance.now() - startedAt }
    const faults = listFaults(expect, outcome, stage.upstreams)
    return faults.length > 0 ? faults : save(stage, step, responses[0])
  } catch (error) {
    if (error instanceof HungError) return [`no response: ${error.message}`]
    if (!(error instanceof BrokenError)) throw error
    return expect.broken === true
      ? upstreamFaults(expect, stage.upstreams)
      : [`broken: ${error.message}`]
  }
}

const expectationOf = ({ placeholders }: Stage, step: Step): Expectation => {
  const expect = step.expect ?? (step.hang_up_ms === undefined ? defaultExpectation(step) : {})
  if (expect === undefined) throw new CaseError('a request step needs `expect`')
  return placeholders.fill(expect)
}

const defaultExpectation = (step: Step): Expectation | undefined => {
  if (step.rejects !== undefined) return rejection(step.rejects)
  if (step.load !== undefined) return step.load.expect ?? { status: 204, empty: true }
  if (step.unload !== undefined) return { status: 204 }
  return step.realm === undefined ? undefined : { status: [200, 201, 204] }
}

const rejection = (rejects: NonNullable<Step['rejects']>): Expectation => {
  const faults = rejects.map(([path, code]) => ({ path, code, message: '@string' }))
  return {
    status: 400,
    error: true,
    json_has: { code: 'wamp.error.invalid_argument', errors: { '@some': faults } },
  }
}

type Performed = Pick<StepResult, 'responses' | 'closed'>

const perform = async (stage: Stage, step: Step): Promise<Performed> => {
  if (step.raw !== undefined) return performRaw(stage, step, step.raw)
  const response = await send(stage, requestOf(stage, step), step.timeout_s)
  return { responses: [response], closed: false }
}

const requestOf = (stage: Stage, step: Step): RequestSpec => {
  const { placeholders } = stage
  if (step.load !== undefined) return loadRequest(stage, step.load)
  if (step.unload !== undefined) {
    const id = encodeURIComponent(placeholders.fill(step.unload))
    return { method: 'DELETE', path: `/api_specs/${id}`, to: 'management' }
  }
  if (step.realm !== undefined) {
    const realm = placeholders.fill(step.realm)
    if (typeof realm['uri'] === 'string') stage.realmUris.add(realm['uri'])
    return { method: 'POST', path: '/realms', json: realm, to: 'management' }
  }
  if (step.request === undefined) throw new CaseError('a step with nothing to do')
  return placeholders.fill(step.request)
}

const loadRequest = (
  { placeholders, documents, loadedIds }: Stage,
  load: LoadSpec,
): RequestSpec => {
  const request = {
    method: 'POST',
    path: load.via ?? '/api_specs',
    headers: load.headers ?? JSON_TYPE,
    to: 'management',
  } as const
  if (load.body !== undefined) return { ...request, body: placeholders.fill(load.body) }
  const document: Json = grow(placeholders.fill(documentOf(load, documents)))
  if (isMap(document) && typeof document['id'] === 'string') loadedIds.add(document['id'])
  return { ...request, json: document }
}

/**
 * Sends bytes as they stand, and reads answers until the connection closes. One that stays open once all have come is
 * asked to close: what is answered before that request is part of the outcome, and nothing can come after it.
 */
const performRaw = async (
  stage: Stage,
  step: Step,
  raw: NonNullable<Step['raw']>,
): Promise<Performed> => {
  const timeoutMs = (step.timeout_s ?? TIMEOUT_S) * 1000
  await using client = await openRawClient(addressOf(stage, step.to ?? 'public'), timeoutMs)
  client.send(partsOf(stage.placeholders.fill(raw)))
  if (step.hang_up_ms !== undefined) {
    await client.more(step.hang_up_ms)
    return { responses: [], closed: false }
  }
  const responses = await readResponses(client, step)
  const last = responses.at(-1)
  return last !== undefined && answersLast(last)
    ? { responses: responses.slice(0, -1), closed: false }
    : { responses, closed: client.stream.ended }
}

const readResponses = async (client: RawClient, step: Step): Promise<readonly RawResponse[]> => {
  const responses: RawResponse[] = []
  const awaited = awaitedResponses(step.expect ?? {})
  let isLast = false
  for (;;) {
    if (!isLast && responses.length >= awaited) {
      isLast = true
      client.send([LAST_REQUEST])
    }
    const hasMore = client.stream.length > 0 || (await client.more(isLast ? IDLE_MS : undefined))
    if (!hasMore) return responses
    responses.push(await client.response(step.head))
  }
}

/** Of a path and a host that no document serves. */
const LAST_REQUEST = Buffer.from(
  'GET /last HTTP/1.1\r\nHost: last.invalid\r\nConnection: close\r\n\r\n',
)

/** Garbage is not answered with 404, and no request of a case asks for both. */
const answersLast = (response: RawResponse): boolean =>
  response.status === 404 &&
  headerValues(response, 'connection').some((value) => /^close$/i.test(value))

const awaitedResponses = (expect: Expectation): number =>
  Math.max(...(expect.any_of ?? [expect]).map(({ statuses = [0] }) => statuses.length))

/** Keeps values of a response for later steps: a JSON pointer, or `header:NAME`, or `header:NAME (pattern)`. */
const save = ({ placeholders }: Stage, step: Step, response: RawResponse | undefined): string[] => {
  for (const [name, source] of Object.entries(step.save ?? {})) {
    const value =
      response &&
      (source.startsWith('header:')
        ? headerPart(response, source.slice(7))
        : bodyPart(response, source))
    if (value === undefined) return [`nothing to save as ${name} at ${source}`]
    placeholders.save(name, value)
  }
  return []
}

const headerPart = (response: RawResponse, source: string): string | undefined => {
  const [name = '', ...pattern] = source.split(' ')
  const [value] = headerValues(response, name)
  if (value === undefined || pattern.length === 0) return value
  return patternOf(pattern.join(' ')).exec(value)?.[1] ?? value
}

const bodyPart = (response: RawResponse, pointer: string): string | undefined => {
  try {
    const value = valueAt(JSON.parse(response.body.toString()) as Json, pointer)
    return value === undefined || typeof value === 'string' ? value : spacedJson(value)
  } catch {
    return undefined
  }
}
