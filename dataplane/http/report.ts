// What became of a request, for metrics and the access log; and the answers that no document gives.

import { toGatewayError, errorAnswer } from './errors.ts'
import type { GatewayErrorCode } from '../gateway-error.ts'
import type { Arrival, DispatchOptions } from './arrival.ts'
import { peernameOfSocket } from './forwarded.ts'
import { refusalType } from './negotiate.ts'
import type { PreparedOperation } from './prepared-operation.ts'
import type { HeaderList } from './response-headers.ts'
import type { Answer } from './response-plan.ts'
import { type Envelope, writeAnswer } from './write-answer.ts'

/** A refusal before any operation was found. */
export const refuseUnmatched = (
  options: DispatchOptions,
  arrival: Arrival,
  error: unknown,
  headers: HeaderList,
): void => {
  const known = toGatewayError(error)
  if (known.code === 'svc.error.internal') options.onUnexpected(error, arrival.id)
  options.onRefused(known.code)
  if (arrival.response.headersSent) {
    arrival.response.destroy()
    return
  }
  writeUnmatched(options, arrival, errorAnswer(known, refusalType(arrival.head.accept), headers))
}

export const writeUnmatched = (
  options: DispatchOptions,
  arrival: Arrival,
  answer: Answer,
): void => {
  const { id, request, response } = arrival
  const envelope: Envelope = {
    requestId: id,
    language: undefined,
    deprecation: undefined,
    vary: undefined,
  }
  const bytes = writeAnswer(response, answer, envelope, request.method === 'HEAD')
  options.inFlight.count--
  const seconds = (options.now() - arrival.startedMs) / 1000
  options.unmatched.observe(answer.status, seconds)
  log(options, arrival, { status: answer.status, seconds, bytes, api: '', version: '' })
}

/** How one request ended. */
export interface Settlement {
  readonly status: number
  /** Of the body. */
  readonly bytes: number
  /** The gateway answered by itself, with this code. */
  readonly refusal?: GatewayErrorCode
}

/** An operation has answered, or its client has gone. */
export const report = (
  options: DispatchOptions,
  arrival: Omit<Arrival, 'response'>,
  operation: Pick<PreparedOperation, 'row' | 'version'>,
  { status, bytes, refusal }: Settlement,
): void => {
  options.inFlight.count--
  if (refusal !== undefined) options.onRefused(refusal)
  const seconds = (options.now() - arrival.startedMs) / 1000
  operation.row.observe(status, seconds)
  if (options.accessLog === undefined) return
  const { apiId: api, name: version } = operation.version
  log(options, arrival, { status, seconds, bytes, api, version })
}

interface Outcome {
  readonly status: number
  readonly seconds: number
  readonly bytes: number
  readonly api: string
  readonly version: string
}

const log = (
  { accessLog, wallClock }: DispatchOptions,
  { id, client, head, request }: Omit<Arrival, 'response'>,
  outcome: Outcome,
): void => {
  accessLog?.write({
    ...outcome,
    id,
    time: wallClock() - outcome.seconds * 1000,
    peername: client?.peername ?? peernameOfSocket(request.socket),
    method: request.method ?? '',
    host: head.host,
    target: request.url ?? '',
  })
}
