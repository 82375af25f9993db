import { describe, expect, it } from '@jest/globals'
import { causeOf, causeOfStatus } from '../../../dataplane/upstream/failure-cause.ts'
import type { UpstreamFailure } from '../../../dataplane/upstream/upstream.ts'

const failed = (code: string): Error => Object.assign(new Error('broken'), { code })

describe('a failure', () => {
  it.each<[failure: UpstreamFailure, error: Error | undefined, cause: string]>([
    ['refused', failed('ECONNREFUSED'), 'refused'],
    ['refused', undefined, 'refused'],
    ['refused', new Error('this name has no address'), 'refused'],
    ['refused', failed('ENOTFOUND'), 'dns'],
    ['refused', failed('EAI_AGAIN'), 'dns'],
    ['refused', failed('CERT_HAS_EXPIRED'), 'tls'],
    ['refused', failed('DEPTH_ZERO_SELF_SIGNED_CERT'), 'tls'],
    ['refused', failed('UNABLE_TO_VERIFY_LEAF_SIGNATURE'), 'tls'],
    ['refused', failed('ERR_TLS_CERT_ALTNAME_INVALID'), 'tls'],
    ['refused', failed('ERR_SSL_WRONG_VERSION_NUMBER'), 'tls'],
    ['refused', new AggregateError([failed('ECONNREFUSED'), failed('EHOSTUNREACH')]), 'refused'],
    ['reset', failed('ENOTFOUND'), 'reset'],
    ['denied', undefined, 'denied'],
    ['connect_timeout', undefined, 'connect_timeout'],
    ['timeout', undefined, 'timeout'],
    ['malformed', undefined, 'malformed'],
    ['aborted', undefined, 'aborted'],
  ])('%s with %s is called %s', (failure, error, cause) => {
    expect(causeOf(failure, error)).toBe(cause)
  })
})

describe('a status', () => {
  it.each([
    [200, undefined],
    [404, undefined],
    [500, undefined],
    [501, undefined],
    [502, 'status_502'],
    [503, 'status_503'],
    [504, 'status_504'],
    [505, undefined],
  ])('%d is called %s', (status, cause) => {
    expect(causeOfStatus(status)).toBe(cause)
  })
})
