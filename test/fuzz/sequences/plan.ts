// Reads from bytes what callers and an upstream do in a sequence of requests. Any bytes are a sequence, and zeros are a
// plain one: each request has a record of its own, so that one can be left out without changing the others.

import { Choices } from './choices.ts'
import { contentOf } from './content.ts'
import { planResponse, type ResponsePlan } from './plan-response.ts'
import { type Wait, WAITS } from './waits.ts'

export type BodyFault = 'none' | 'too short' | 'too long' | 'destroyed' | 'error'

export interface BodyPlan {
  readonly kind: 'none' | 'bytes' | 'sized stream' | 'chunked stream'
  readonly bytes: Buffer
  /** Of a stream, into pieces of this size. */
  readonly pieceBytes: number
  readonly wait: Wait
  readonly fault: BodyFault
}

export interface CallerPlan {
  readonly method: string
  readonly body: BodyPlan
  /** Pauses at each n-th piece of the response; 0: never. */
  readonly pauseEvery: number
  readonly resumeAfter: Wait
  readonly recycles: 'never' | 'at once' | 'before it resumes'
  readonly abortsAt: 'never' | 'send' | 'head' | 'data' | 'pause'
  readonly abortAfter: Wait
  /** From the end of this request to the next of its caller. */
  readonly nextAfter: Wait
}

export interface RequestPlan {
  readonly number: number
  readonly caller: CallerPlan
  /** What the upstream has seen of the request when it answers. */
  readonly answersAt: 'end' | 'head' | 'body'
  /** False: it does not read the body of the request before it has answered. */
  readonly readsBody: boolean
  readonly response: ResponsePlan
}

export interface SequencePlan {
  readonly isSecure: boolean
  readonly isMemoryShort: boolean
  readonly poolSize: number
  /** Each sends its requests one after the other. */
  readonly callers: readonly (readonly RequestPlan[])[]
}

export const RECORD_BYTES = 32
const MAX_REQUESTS = 24

/** @example planSequence(Buffer.alloc(64)).callers // [[one GET that is answered at once]] */
export const planSequence = (input: Buffer): SequencePlan => {
  const choices = new Choices(input.subarray(0, RECORD_BYTES))
  const isSecure = choices.below(2) === 1
  const isMemoryShort = choices.below(5) === 4
  const poolSize = 1 + choices.below(3)
  const callers: RequestPlan[][] = Array.from({ length: 1 + choices.below(4) }, () => [])
  const count = Math.min(MAX_REQUESTS, Math.ceil(input.length / RECORD_BYTES) - 1)
  for (let number = 1; number <= count; number++) {
    const at = number * RECORD_BYTES
    const own = new Choices(input.subarray(at, at + RECORD_BYTES))
    own.of(callers).push(planRequest(number, own))
  }
  return { isSecure, isMemoryShort, poolSize, callers }
}

const planRequest = (number: number, choices: Choices): RequestPlan => {
  const caller = planCaller(number, choices)
  const hasBody = caller.body.kind !== 'none'
  const answersAt = choices.of(['end', 'end', 'end', 'end', 'head', 'body'] as const)
  const readsBody = choices.below(3) < 2 || answersAt !== 'head'
  return {
    number,
    caller,
    answersAt: hasBody ? answersAt : 'end',
    readsBody,
    response: planResponse(number, caller.method, choices),
  }
}

const METHODS = ['GET', 'GET', 'GET', 'POST', 'POST', 'POST', 'PUT', 'HEAD', 'DELETE']

const planCaller = (number: number, choices: Choices): CallerPlan => {
  const method = choices.of(METHODS)
  return {
    method,
    body: planBody(number, method, choices),
    pauseEvery: choices.of([0, 0, 1, 2, 5]),
    resumeAfter: choices.of(WAITS.slice(1)),
    recycles: choices.of(['never', 'at once', 'before it resumes'] as const),
    abortsAt: choices.of([
      'never',
      'never',
      'never',
      'never',
      'never',
      'never',
      'never',
      'never',
      'send',
      'head',
      'data',
      'pause',
    ] as const),
    abortAfter: choices.of(WAITS),
    nextAfter: choices.of(WAITS),
  }
}

const BODY_KINDS = ['bytes', 'bytes', 'sized stream', 'sized stream', 'chunked stream'] as const

const planBody = (number: number, method: string, choices: Choices): BodyPlan => {
  const isUsual = method === 'POST' || method === 'PUT'
  const kind = choices.of(BODY_KINDS)
  const hasBody = method !== 'HEAD' && (isUsual || choices.below(6) === 5)
  const isStream = kind !== 'bytes'
  const bytes = hasBody ? choices.of([10, 1, 0, 4096, 5000, 70_000, 400_000]) : 0
  return {
    kind: hasBody ? kind : 'none',
    bytes: contentOf(-number, bytes),
    // Each may be waited for.
    pieceBytes: Math.max(choices.of([70_000, 1000, 16_384, 100_000]), bytes >> 5),
    wait: choices.of(WAITS),
    fault: isStream && hasBody ? choices.of(BODY_FAULTS) : 'none',
  }
}

const BODY_FAULTS: readonly BodyFault[] = [
  ...Array.from({ length: 12 }, () => 'none' as const),
  'too short',
  'too long',
  'destroyed',
  'error',
]
