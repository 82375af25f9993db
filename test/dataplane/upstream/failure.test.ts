import { describe, expect, it } from '@jest/globals'
import { destinationDenied } from '../../../dataplane/upstream/destinations/allowed-addresses.ts'
import { classifyFailure } from '../../../dataplane/upstream/failure.ts'
import { PeerError } from '../../../dataplane/upstream/peer-error.ts'

const coded = (code: string): Error => Object.assign(new Error(code), { code })

describe('classifyFailure', () => {
  it.each<[unknown, boolean, string]>([
    [coded('ECONNREFUSED'), false, 'refused'],
    [coded('ENOTFOUND'), false, 'refused'],
    [coded('DEPTH_ZERO_SELF_SIGNED_CERT'), false, 'refused'],
    [destinationDenied('h', 1), false, 'denied'],
    [new AggregateError([coded('ECONNREFUSED'), destinationDenied('h', 1)]), false, 'denied'],
    [new AggregateError([coded('ECONNREFUSED')]), false, 'refused'],
    [coded('ECONNRESET'), true, 'reset'],
    [new PeerError('closed', 'in the middle of a chunk'), true, 'reset'],
    [new PeerError('malformed', 'no status line'), true, 'malformed'],
    [new Error('anything'), true, 'reset'],
    [undefined, true, 'reset'],
    [{ code: 7 }, true, 'reset'],
  ])('%s, sent %s: %s', (error, wasSent, failure) => {
    expect(classifyFailure(error, wasSent)).toBe(failure)
  })
})
