import { describe, expect, it } from '@jest/globals'
import { destinationDenied } from '../../../dataplane/upstream/destinations/allowed-addresses.ts'
import { classifyFailure } from '../../../dataplane/upstream/failure.ts'
import { withoutContinue } from '../../../dataplane/upstream/interim.ts'

const coded = (code: string): Error => Object.assign(new Error(code), { code })

const parserError = (message: string): Error =>
  Object.assign(new Error(message), { name: 'HTTPParserError' })

describe('classifyFailure', () => {
  it.each<[unknown, boolean, string]>([
    [coded('ECONNREFUSED'), false, 'refused'],
    [coded('ENOTFOUND'), false, 'refused'],
    [coded('DEPTH_ZERO_SELF_SIGNED_CERT'), false, 'refused'],
    [destinationDenied('h', 1), false, 'denied'],
    [new AggregateError([coded('ECONNREFUSED'), destinationDenied('h', 1)]), false, 'denied'],
    [new AggregateError([coded('ECONNREFUSED')]), false, 'refused'],
    [coded('ECONNRESET'), true, 'reset'],
    [coded('UND_ERR_SOCKET'), true, 'reset'],
    [coded('UND_ERR_RES_CONTENT_LENGTH_MISMATCH'), true, 'reset'],
    [parserError('Invalid EOF state'), true, 'reset'],
    [parserError('Expected HTTP/'), true, 'malformed'],
    [new Error('bad response'), true, 'malformed'],
    [coded('UND_ERR_HEADERS_OVERFLOW'), true, 'malformed'],
    [new Error('bad upgrade'), true, 'malformed'],
    [new Error('anything'), true, 'reset'],
    [undefined, true, 'reset'],
    [{ code: 7 }, true, 'reset'],
  ])('%s, sent %s: %s', (error, wasSent, failure) => {
    expect(classifyFailure(error, wasSent)).toBe(failure)
  })
})

describe('withoutContinue', () => {
  it.each([
    ['HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n', 'HTTP/1.1 200 OK\r\n'],
    ['HTTP/1.1 100 Continue\r\nServer: x\r\n\r\nHTTP/1.0 100 C\r\n\r\nrest', 'rest'],
    ['HTTP/1.1 100 Continue\r\n\r\n', ''],
    ['HTTP/1.1 100 Continue\r\n', 'HTTP/1.1 100 Continue\r\n'],
    ['HTTP/1.1 103 Early Hints\r\n\r\n', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
    ['HTTP/1.1 1000 X\r\n\r\n', 'HTTP/1.1 1000 X\r\n\r\n'],
    ['HTTP/1.1 200 OK\r\n\r\n', 'HTTP/1.1 200 OK\r\n\r\n'],
    ['', ''],
  ])('%j → %j', (bytes, rest) => {
    expect(withoutContinue(Buffer.from(bytes)).toString()).toBe(rest)
  })
})
