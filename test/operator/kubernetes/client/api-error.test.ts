import { describe, expect, it } from '@jest/globals'
import { TYPES } from '../../../../operator/kubernetes/client/api.ts'
import {
  errorFromResponse,
  errorFromNetwork,
  isBroken,
  TOO_LARGE_VERSION,
} from '../../../../operator/kubernetes/client/api-error.ts'

const status = (more: object): object => ({ kind: 'Status', status: 'Failure', ...more })

describe('a response that is no success', () => {
  it.each([
    [
      { status: 404, body: status({ reason: 'NotFound', message: 'pods "a" not found' }) },
      { status: 404, reason: 'NotFound', message: 'pods "a" not found (HTTP 404)' },
    ],
    [
      { status: 502, body: undefined },
      { status: 502, reason: '', message: 'pods: the API server gave no reason (HTTP 502)' },
    ],
    [{ status: 403, body: { kind: 'Other', message: 'token abc' } }, { reason: '' }],
    [
      {
        status: 504,
        body: status({ details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } }),
      },
      { reason: TOO_LARGE_VERSION },
    ],
    [{ status: 429, retryAfter: '3', body: undefined }, { retryAfterMs: 3000 }],
    [{ status: 500, body: status({ details: { retryAfterSeconds: 2 } }) }, { retryAfterMs: 2000 }],
    [
      { status: 429, retryAfter: 'Fri, 31 Dec 1999 23:59:59 GMT', body: undefined },
      { retryAfterMs: undefined },
    ],
    [{ status: 429, retryAfter: '-1', body: undefined }, { retryAfterMs: undefined }],
    [{ status: 500, body: ['constructor'] }, { reason: '' }],
  ])('%#: %j', (response, expected) => {
    const error = errorFromResponse({ type: TYPES.pods, retryAfter: undefined, ...response })
    expect(error).toMatchObject(expected)
    expect(error.message).not.toContain('abc')
  })

  it('tells which manager has which field', () => {
    const cause = {
      reason: 'FieldManagerConflict',
      message: 'conflict with "kubectl"',
      field: '.spec.uri',
    }
    const body = status({ reason: 'Conflict', details: { causes: [cause] } })
    const error = errorFromResponse({ type: TYPES.pods, status: 409, retryAfter: undefined, body })
    expect(error).toMatchObject({ code: 'conflict', causes: [cause] })
  })

  it('never quotes a Secret that is refused', () => {
    const body = status({
      reason: 'Invalid',
      message: 'Secret "a" is invalid: data[b]: Invalid value: "hunter2"',
      details: {
        causes: [{ reason: 'FieldValueInvalid', message: '"hunter2"', field: 'data[b]' }],
      },
    })
    const error = errorFromResponse({
      type: TYPES.secrets,
      status: 422,
      retryAfter: undefined,
      body,
    })
    expect(error.message).toBe('secrets: the API server rejects the Secret for data[b] (HTTP 422)')
    expect(error).toMatchObject({
      reason: 'Invalid',
      causes: [{ reason: 'FieldValueInvalid', field: 'data[b]', message: '' }],
    })
  })

  it('is not longer than a line that one reads', () => {
    const body = status({ message: 'x'.repeat(100_000) })
    const error = errorFromResponse({ type: TYPES.pods, status: 422, retryAfter: undefined, body })
    expect(error.message.length).toBeLessThan(1100)
  })
})

const withCode = (code: string, more?: ErrorOptions): Error =>
  Object.assign(new Error('of the network', more), { code })

describe('no response', () => {
  it.each([
    [withCode('ECONNREFUSED'), 'unreachable: connection refused', false],
    [
      new AggregateError([withCode('ECONNREFUSED'), withCode('ECONNREFUSED')]),
      'connection refused',
      false,
    ],
    [withCode('UND_ERR_HEADERS_TIMEOUT'), 'did not respond in time', false],
    [new TypeError('failed', { cause: withCode('ECONNRESET') }), 'broke the connection', true],
    [withCode('SELF_SIGNED_CERT_IN_CHAIN'), 'not trusted', false],
    [withCode('constructor'), 'no response of the API server (constructor)', false],
    [new TypeError('x'), 'no response of the API server (TypeError)', false],
    ['thrown', 'no response of the API server (unknown)', false],
  ])('%#: %s', (cause, words, broken) => {
    const error = errorFromNetwork(TYPES.pods, cause)
    expect(error).toMatchObject({ status: 0, cause })
    expect(error.message).toContain(words)
    expect(isBroken(error)).toBe(broken)
  })
})
