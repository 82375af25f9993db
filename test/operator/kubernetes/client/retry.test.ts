import { describe, expect, it } from '@jest/globals'
import { ApiError } from '../../../../operator/kubernetes/client/api.ts'
import {
  errorFromNetwork,
  TOO_LARGE_VERSION,
  unconnected,
} from '../../../../operator/kubernetes/client/api-error.ts'
import { type RetriedAs, waitBeforeRetry } from '../../../../operator/kubernetes/client/retry.ts'
import { TYPES } from '../../../../operator/kubernetes/client/api.ts'

const told = (status: number, retryAfterMs?: number, reason = ''): ApiError =>
  new ApiError('', { status, retryAfterMs, reason })
const broken = errorFromNetwork(TYPES.pods, Object.assign(new Error(), { code: 'ECONNRESET' }))
const unmade = errorFromNetwork(
  TYPES.pods,
  unconnected(Object.assign(new Error(), { code: 'ECONNRESET' })),
)
const refused = errorFromNetwork(TYPES.pods, Object.assign(new Error(), { code: 'ECONNREFUSED' }))

describe('the wait before a request is sent again', () => {
  it.each<[RetriedAs, ApiError, number, number | undefined]>([
    ['get', told(429, 1000), 1, 1250],
    ['list', told(503, 2000), 3, 2500],
    ['apply', told(500, 1000), 1, 1250],
    ['get', told(429, 0), 1, 125],
    ['get', told(429, 1000), 4, undefined],
    ['get', told(429), 1, undefined],
    ['get', told(503), 1, undefined],
    ['get', told(429, 60_000), 1, undefined],
    ['get', told(404, 1000), 1, undefined],
    ['list', told(504, 1000, TOO_LARGE_VERSION), 1, undefined],
    ['create', told(429, 1000), 1, 1250],
    ['create', told(503, 1000), 1, undefined],
    ['update', told(503, 1000), 1, undefined],
    ['watch', told(429, 1000), 1, undefined],
    ['check', told(429, 1000), 1, undefined],
    ['check', told(503, 1000), 1, undefined],
    ['check', broken, 1, 75],
    ['get', broken, 1, 75],
    ['get', broken, 2, undefined],
    ['patch', broken, 1, 75],
    ['create', broken, 1, undefined],
    ['update', broken, 1, undefined],
    ['get', unmade, 1, 75],
    ['get', unmade, 2, undefined],
    ['create', unmade, 1, 75],
    ['watch', unmade, 1, undefined],
    ['check', unmade, 1, undefined],
    ['get', refused, 1, undefined],
  ])('%s, %o, %d times: %s', (verb, error, tries, expected) => {
    expect(waitBeforeRetry(verb, error, tries, () => 0.5)).toBe(expected)
  })
})
