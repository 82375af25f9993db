import { describe, expect, it } from '@jest/globals'
import type { OperationShape } from '../../../../dataplane/http/operation-shape.ts'
import { GatewayError } from '../../../../dataplane/gateway-error.ts'
import type {
  StepRequest,
  UnservedRequest,
  CheckResult,
} from '../../../../dataplane/http/steps/request-step.ts'
import {
  httpSteps,
  type NamedStep,
  stepsOfPath,
  stepsOfWebSocket,
  takeSteps,
} from '../../../../dataplane/http/steps/request-steps.ts'

/** Only what steps read of it. */
const shapeWith = (more: Partial<OperationShape>): OperationShape =>
  ({
    method: 'get',
    guard: undefined,
    accepts: ['application/json'],
    isForgeable: false,
    offers: ['application/json'],
    hasEvents: false,
    checksAccept: false,
    needs: { body: false },
    body: { maxBytes: 4, readBytes: 1, readMs: 1 },
    forwardsBody: false,
    isFixed: false,
    ...more,
  }) as OperationShape

const HEAD = {
  accept: undefined,
  contentType: undefined,
  contentLength: NaN,
  isChunked: false,
} as StepRequest['head']

interface Asked {
  readonly head?: Partial<StepRequest['head']>
  readonly contentEncoding?: string
  readonly fetchSite?: string
  readonly isAcceptable?: boolean
  readonly isPreflight?: boolean
  readonly isGone?: boolean
  readonly caller?: () => CheckResult | Promise<CheckResult>
}

const requestWith = ({ head, caller, ...more }: Asked = {}): StepRequest => ({
  head: { ...HEAD, ...head },
  contentEncoding: undefined,
  fetchSite: undefined,
  clientAddress: undefined,
  identity: undefined,
  isAcceptable: true,
  isPreflight: false,
  isGone: false,
  checkOrigin: () => undefined,
  checkHandshake: () => undefined,
  checkHead: () => [],
  limit: () => undefined,
  authenticate: caller ?? (() => new Error('refused')),
  ...more,
})

/** The end of the request, and how it came to it. */
const taken = async <S>(
  steps: readonly NamedStep<S>[],
  request: StepRequest,
  subject: S,
): Promise<string> =>
  new Promise((resolve) => {
    takeSteps(steps, request, subject, {
      proceed: () => {
        resolve('proceeds')
      },
      answer: ({ status, headers }) => {
        resolve(`answered: ${status} ${JSON.stringify(headers)}`)
      },
      refuse: (error) => {
        const step = error instanceof GatewayError ? ` (${error.step})` : ''
        resolve(`refused: ${error.message}${step}`)
      },
      abandon: () => {
        resolve('abandoned')
      },
      fail: (error) => {
        resolve(`failed: ${(error as Error).message}`)
      },
    })
  })

const BASIC = [{ type: 'basic' }] as const
const BODY = { contentLength: 2, contentType: 'application/json' }
const READS: Partial<OperationShape> = {
  method: 'post',
  needs: { body: true } as OperationShape['needs'],
}

describe('the steps of an operation', () => {
  it.each<[string, Partial<OperationShape>, Asked, string]>([
    ['let a request pass that none is for', {}, {}, 'proceeds'],
    ['ask who calls', { guard: BASIC }, {}, 'refused: refused'],
    [
      'let a preflight pass that performs nothing',
      { guard: BASIC, action: 'empty' },
      { isPreflight: true },
      'proceeds',
    ],
    [
      'ask who calls by a preflight that performs something',
      { guard: BASIC, action: 'static' },
      { isPreflight: true },
      'refused: refused',
    ],
    ['let a known caller pass', { guard: BASIC }, { caller: () => undefined }, 'proceeds'],
    [
      'negotiate the type',
      { checksAccept: true },
      { isAcceptable: false },
      'refused: None of the types in Accept can be served here (negotiate)',
    ],
    ['do not negotiate what passes through', {}, { isAcceptable: false }, 'proceeds'],
    [
      'ask who calls before they negotiate',
      { guard: BASIC, checksAccept: true },
      { isAcceptable: false },
      'refused: refused',
    ],
    [
      'need a type of a body',
      READS,
      { head: { contentLength: 2 } },
      'refused: The body has no Content-Type (negotiate)',
    ],
    [
      'need a type that is accepted',
      READS,
      { head: { ...BODY, contentType: 'text/plain' } },
      'refused: Bodies of this Content-Type are not accepted here (negotiate)',
    ],
    [
      'need a coding that can be read',
      READS,
      { head: BODY, contentEncoding: 'zstd' },
      'refused: Bodies in this Content-Encoding are not accepted here (negotiate)',
    ],
    [
      'bound the declared length',
      READS,
      { head: { ...BODY, contentLength: 5 } },
      'refused: The body is larger than the 4 bytes that are accepted here (body)',
    ],
    ['let a body pass that is within', READS, { head: BODY }, 'proceeds'],
    ['look at no body where there is none', READS, { contentEncoding: 'zstd' }, 'proceeds'],
  ])('%s', async (_, more, asked, end) => {
    const shape = shapeWith(more)
    expect(await taken(httpSteps(shape).steps, requestWith(asked), shape)).toBe(end)
  })

  it.each<[string, Partial<OperationShape>, boolean]>([
    ['open to a fixed response', { isFixed: true, checksAccept: true }, true],
    ['closed where the response is not fixed', { checksAccept: true }, false],
    ['closed where somebody must be authenticated', { isFixed: true, guard: BASIC }, false],
  ])('the short cut is %s', (_, more, isQuick) => {
    expect(httpSteps(shapeWith(more)).isQuick).toBe(isQuick)
  })

  it('are one list for all operations that have the same', () => {
    const [one, other] = [
      shapeWith({ guard: BASIC }),
      shapeWith({ guard: [{ type: 'oidc', provider: 'a' }] }),
    ]
    expect(httpSteps(one).steps).toBe(httpSteps(other).steps)
    expect(httpSteps(one).steps).not.toBe(httpSteps(shapeWith({})).steps)
  })
})

describe('the steps of a path that has no operation for a request', () => {
  const unserved = (lacks: UnservedRequest['lacks'], isPreflight = false): UnservedRequest => ({
    lacks,
    schemes: 'https',
    allow: 'GET, OPTIONS',
    isPreflight,
    redirect: () => undefined,
    headers: () => [
      ['allow', 'POST'],
      ['x-own', 'a'],
    ],
  })

  it.each<[string, UnservedRequest['lacks'], string, isPreflight?: boolean]>([
    [
      'refuse another scheme',
      'scheme',
      'refused: Nothing is served here over this scheme (scheme)',
    ],
    ['refuse another method', 'method', 'refused: This path does not serve that method (method)'],
    [
      'answer OPTIONS with the methods and headers of the path',
      'OPTIONS',
      'answered: 204 [["x-own","a"],["allow","GET, OPTIONS"]]',
    ],
    [
      'answer a preflight, whose response differs by what it asks for, even over another scheme',
      'scheme',
      'answered: 204 [["x-own","a"],["allow","GET, OPTIONS"],["vary","access-control-request-method, access-control-request-headers"]]',
      true,
    ],
  ])('%s', async (_, lacks, end, isPreflight = false) => {
    const subject = unserved(lacks, isPreflight)
    expect(await taken(stepsOfPath(subject), requestWith(), subject)).toBe(end)
  })
})

it.each<[string, ConstructorParameters<typeof GatewayError>[2], string]>([
  ['who calls', {}, 'authenticate'],
  ['what the caller must be', { pointer: '/security/groups' }, 'requirements'],
])('a caller who is refused is refused by %s', async (_, options, step) => {
  const error = new GatewayError('svc.error.forbidden', 'no', options)
  const shape = shapeWith({ guard: BASIC })
  const request = requestWith({ caller: () => Promise.resolve(error) })
  expect(await taken(httpSteps(shape).steps, request, shape)).toBe(`refused: no (${step})`)
})

describe('the steps of a WebSocket connection', () => {
  it.each([
    ['ask who calls', BASIC, 'refused: refused'],
    ['let anybody pass where the version does', [{ type: 'anonymous' }] as const, 'proceeds'],
  ])('%s', async (_, security, end) => {
    const subject = { security, rateLimits: undefined }
    expect(await taken(stepsOfWebSocket(subject), requestWith(), subject)).toBe(end)
  })
})

describe('a step that waits', () => {
  const waiting = (verdict: () => CheckResult): NamedStep<object> => ({
    name: 'negotiate',
    isFor: () => true,
    check: () => Promise.resolve().then(verdict),
  })
  const passes = waiting(() => undefined)
  const refuses = waiting(() => new Error('late'))

  it.each<[string, readonly NamedStep<object>[], boolean, string]>([
    ['lets the request go on to the next one', [passes, refuses], false, 'refused: late'],
    ['lets it go on to the action', [passes, passes], false, 'proceeds'],
    ['refuses', [refuses, passes], false, 'refused: late'],
    ['abandons a client that has disconnected', [passes, refuses], true, 'abandoned'],
    [
      'fails with what it throws',
      [
        waiting(() => {
          throw new Error('bug')
        }),
      ],
      false,
      'failed: bug',
    ],
  ])('%s', async (_, steps, isGone, end) => {
    expect(await taken(steps, requestWith({ isGone }), {})).toBe(end)
  })
})
