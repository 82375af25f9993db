import { describe, expect, it } from '@jest/globals'
import {
  type FailedRequest,
  failureOf,
} from '../../../../dataplane/upstream/endpoints/failure-blame.ts'
import { PeerError } from '../../../../dataplane/upstream/peer-error.ts'

const failing = (failed: Partial<FailedRequest>): FailedRequest => ({
  failure: 'reset',
  cause: undefined,
  request: { timeoutMs: 5000, connectTimeoutMs: 5000 },
  connection: { hasAttempted: true },
  ...failed,
})

const error = (members: object): Error => Object.assign(new Error('broken'), members)

describe('a failure', () => {
  it.each<[what: string, failed: Partial<FailedRequest>, fault: string | undefined]>([
    ['to connect has been counted', { failure: 'refused' }, undefined],
    ['by our guard', { failure: 'denied' }, undefined],
    ['by ourselves', { failure: 'aborted' }, undefined],
    ['to connect in time', { failure: 'connect_timeout' }, 'connect_timeout'],
    [
      'to connect in too short a time',
      { failure: 'connect_timeout', request: { timeoutMs: 5000, connectTimeoutMs: 999 } },
      undefined,
    ],
    [
      'to look up in time',
      { failure: 'connect_timeout', connection: { hasAttempted: false } },
      undefined,
    ],
    ['to answer in time', { failure: 'timeout' }, 'timeout'],
    [
      'to answer in too short a time',
      { failure: 'timeout', request: { timeoutMs: 999, connectTimeoutMs: 5000 } },
      undefined,
    ],
    ['to speak HTTP', { failure: 'malformed' }, 'malformed'],
    ['of the peer, who closed', { cause: new PeerError('closed', '') }, 'reset'],
    ['of the peer, who reset', { cause: error({ code: 'ECONNRESET', syscall: 'read' }) }, 'reset'],
    ['of the pipe', { cause: error({ code: 'EPIPE', syscall: 'write' }) }, 'reset'],
    ['of a client, who went', { cause: error({ code: 'ECONNRESET' }) }, undefined],
    ['of who knows what', {}, undefined],
  ])('%s', (_, failed, fault) => {
    expect(failureOf(failing(failed))).toBe(fault)
  })
})
