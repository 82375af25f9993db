import { describe, expect, it } from '@jest/globals'
import {
  createFailureReport,
  type FailedRequest,
  type ReportFailure,
} from '../../../dataplane/http/failure-report.ts'

const FAILED: FailedRequest = {
  id: 'r1',
  api: 'shop',
  version: 'v1',
  path: '/v1/orders/:id',
  method: 'GET',
  status: 504,
  code: 'svc.error.bad_gateway',
  failure: {
    reason: 'dns',
    upstream: 'http://orders',
    attempts: 2,
    detail: 'getaddrinfo ENOTFOUND orders',
  },
}

interface Line {
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

const open = (): { lines: Line[]; report: ReportFailure; pass: (ms: number) => void } => {
  const lines: Line[] = []
  let nowMs = 0
  const report = createFailureReport({
    now: () => nowMs,
    warn: (message, fields) => lines.push({ message, fields }),
  })
  return { lines, report, pass: (ms) => (nowMs += ms) }
}

it('says what is wrong, where, and with which request', () => {
  const { lines, report } = open()
  report(FAILED)
  expect(lines).toEqual([
    {
      message: "request failed: the name of the upstream can't be resolved; is it spelt correctly?",
      fields: {
        requestId: 'r1',
        api: 'shop',
        version: 'v1',
        method: 'GET',
        path: '/v1/orders/:id',
        status: 504,
        code: 'svc.error.bad_gateway',
        reason: 'dns',
        upstream: 'http://orders',
        attempts: 2,
        detail: 'getaddrinfo ENOTFOUND orders',
        more: 0,
      },
    },
  ])
})

it('says the same once a minute, with the number of those between', () => {
  const { lines, report, pass } = open()
  for (let count = 0; count < 5; count++) report(FAILED)
  pass(59_999)
  report(FAILED)
  expect(lines).toHaveLength(1)
  pass(1)
  report({ ...FAILED, id: 'r7' })
  expect(lines.map(({ fields }) => [fields['requestId'], fields['more']])).toEqual([
    ['r1', 0],
    ['r7', 5],
  ])
})

describe('tells apart', () => {
  it.each<[string, Partial<FailedRequest>]>([
    ['documents', { api: 'bank' }],
    ['versions', { version: 'v2' }],
    ['paths', { path: '/v1/orders' }],
    ['methods', { method: 'POST' }],
    ['reasons', { failure: { reason: 'timeout' } }],
  ])('%s', (_, other) => {
    const { lines, report } = open()
    report(FAILED)
    report({ ...FAILED, ...other })
    expect(lines).toHaveLength(2)
  })
})

it.each<[string, Partial<FailedRequest>, number]>([
  [
    'a 404 of the upstream that the document passes on',
    { failure: { reason: 'upstream_status' }, status: 404 },
    0,
  ],
  ['an error of the callee that is a 400', { failure: { reason: 'wamp_error' }, status: 400 }, 0],
  ['an error of the callee that is a 500', { failure: { reason: 'wamp_error' } }, 1],
  ['what on_error made a success', { status: 200 }, 1],
])('%s', (_, other, count) => {
  const { lines, report } = open()
  report({ ...FAILED, ...other })
  expect(lines).toHaveLength(count)
})

it('is bounded for each document, so that one does not make others be logged more often', () => {
  const { lines, report } = open()
  report(FAILED)
  for (let index = 0; index < 1000; index++)
    report({ ...FAILED, api: 'loud', path: `/v1/${index}` })
  report(FAILED)
  expect(lines.filter(({ fields }) => fields['api'] === 'shop')).toHaveLength(1)
})
