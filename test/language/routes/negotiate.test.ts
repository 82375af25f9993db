import { describe, expect, it } from '@jest/globals'
import {
  isAcceptedType,
  isReadType,
  orderOffers,
  pickContentType,
  pickLanguage,
  prefersProblem,
  rateEventStream,
  refusalType,
  writtenType,
  type ContentType,
} from '../../../language/routes/negotiate.ts'

const JSON_TYPE = 'application/json'
const MSGPACK = 'application/msgpack'
const BOTH: readonly ContentType[] = [JSON_TYPE, MSGPACK]

describe('pickContentType', () => {
  it.each<[string | undefined, ContentType | undefined]>([
    [undefined, JSON_TYPE],
    ['', JSON_TYPE],
    ['*/*', JSON_TYPE],
    [JSON_TYPE, JSON_TYPE],
    [MSGPACK, MSGPACK],
    ['APPLICATION/MsgPack', MSGPACK],
    ['application/*', JSON_TYPE],
    ['text/html', undefined],
    ['text/html, */*;q=0.1', JSON_TYPE],
    [`${JSON_TYPE};q=0.5, ${MSGPACK}`, MSGPACK],
    [`${MSGPACK};q=0.5, ${JSON_TYPE};q=0.5`, JSON_TYPE],
    [`${JSON_TYPE};q=0`, undefined],
    [`${JSON_TYPE};q=0, */*`, MSGPACK],
    [`application/*;q=0, ${MSGPACK};q=0.1`, MSGPACK],
    ['*/*;q=0', undefined],
    [`${JSON_TYPE}; charset=latin1`, JSON_TYPE],
    [`${JSON_TYPE};charset=utf-8;q=0.2, ${MSGPACK};q=0.3`, MSGPACK],
    [`${JSON_TYPE};Q=0.1 , ${MSGPACK} ; q = 0.2`, MSGPACK],
    [`${JSON_TYPE};q=x`, undefined],
    [`${JSON_TYPE};q=7, ${MSGPACK};q=-1`, JSON_TYPE],
    [`${JSON_TYPE};q=0.1, ${JSON_TYPE};q=0.9, ${MSGPACK};q=0.5`, JSON_TYPE],
    [',,;,', undefined],
    ['constructor', undefined],
    [`${'a/b,'.repeat(70)}${JSON_TYPE}`, undefined],
  ])('%p', (accept, expected) => {
    expect(pickContentType(accept, BOTH)).toBe(expected)
  })

  it('of nothing is nothing', () => {
    expect(pickContentType('*/*', [])).toBeUndefined()
    expect(pickContentType('a/b', [])).toBeUndefined()
  })

  it('gives the offer as it was written', () => {
    const offers: readonly ContentType[] = ['application/json; charset=utf-8']
    expect(pickContentType(JSON_TYPE, offers)).toBe(offers[0])
  })

  it('reads a header of a megabyte in one pass', () => {
    expect(pickContentType(`${';'.repeat(1_000_000)},${JSON_TYPE}`, BOTH)).toBe(JSON_TYPE)
  })
})

describe('rateEventStream', () => {
  const EVENTS = 'text/event-stream'

  it.each<[string | undefined, ReturnType<typeof rateEventStream>]>([
    [undefined, 'accepted'],
    ['', 'accepted'],
    ['*/*', 'accepted'],
    ['*/*;q=0.1', 'accepted'],
    [EVENTS, 'preferred'],
    ['Text/Event-Stream; charset=utf-8', 'preferred'],
    [`${EVENTS};q=0.1`, 'preferred'],
    ['text/*', 'preferred'],
    ['text/*, application/*;q=0.9', 'preferred'],
    [`${EVENTS}, */*;q=0.5`, 'preferred'],
    [`${EVENTS}, ${JSON_TYPE};q=0.9, ${MSGPACK};q=0.8`, 'preferred'],
    [`${EVENTS}, ${JSON_TYPE}`, 'accepted'],
    [`${EVENTS}, */*`, 'accepted'],
    [`${EVENTS};q=0.9, ${MSGPACK}`, 'accepted'],
    [`${EVENTS};q=0.9, ${JSON_TYPE};q=0.1, ${MSGPACK}`, 'accepted'],
    [`${EVENTS}, application/*;q=0`, 'preferred'],
    ['*/*, application/*;q=0.1', 'preferred'],
    ['text/html, */*;q=0.1', 'accepted'],
    [JSON_TYPE, 'refused'],
    ['application/*', 'refused'],
    ['text/html', 'refused'],
    [`${EVENTS};q=0`, 'refused'],
    [`${EVENTS};q=0, */*`, 'refused'],
    ['text/*;q=0, */*', 'refused'],
    ['*/*;q=0', 'refused'],
    [`${EVENTS};q=x`, 'refused'],
    ['constructor', 'refused'],
  ])('%p', (accept, expected) => {
    expect(rateEventStream(accept, BOTH)).toBe(expected)
  })

  it('beside nothing else, whatever is accepted is preferred', () => {
    expect(rateEventStream('text/html, */*;q=0.1', [])).toBe('preferred')
  })
})

describe('prefersProblem', () => {
  const PROBLEM = 'application/problem+json'

  it.each<[string | undefined, string, boolean]>([
    [undefined, JSON_TYPE, false],
    ['*/*', JSON_TYPE, false],
    ['application/*', JSON_TYPE, false],
    [JSON_TYPE, JSON_TYPE, false],
    [PROBLEM, JSON_TYPE, true],
    ['Application/Problem+JSON', JSON_TYPE, true],
    [`${PROBLEM};charset=utf-8`, JSON_TYPE, true],
    [`${JSON_TYPE}, ${PROBLEM}`, JSON_TYPE, true],
    [`${JSON_TYPE}, ${PROBLEM};q=0.9`, JSON_TYPE, false],
    [`${JSON_TYPE};q=0.9, ${PROBLEM};q=0.9`, JSON_TYPE, true],
    [`*/*, ${PROBLEM};q=0.9`, JSON_TYPE, false],
    [`*/*;q=0.1, ${PROBLEM};q=0.2`, JSON_TYPE, true],
    [`${PROBLEM};q=0`, JSON_TYPE, false],
    [`text/html, ${PROBLEM};q=0.1`, JSON_TYPE, true],
    [`${MSGPACK}, ${PROBLEM};q=0.9`, MSGPACK, false],
    [`${MSGPACK}, ${PROBLEM}`, MSGPACK, true],
    ['application/problem+jsonx', JSON_TYPE, false],
    ['application/problem+xml', JSON_TYPE, false],
    [`${'a/b,'.repeat(70)}${PROBLEM}`, JSON_TYPE, false],
  ])('%p instead of %s: %p', (accept, otherwise, expected) => {
    expect(prefersProblem(accept, otherwise)).toBe(expected)
  })
})

describe('refusalType', () => {
  it.each<[string | undefined, ContentType]>([
    [undefined, JSON_TYPE],
    ['text/html', JSON_TYPE],
    [MSGPACK, MSGPACK],
    [`${MSGPACK}, */*;q=0.1`, MSGPACK],
  ])('%p', (accept, expected) => {
    expect(refusalType(accept)).toBe(expected)
  })
})

describe('orderOffers', () => {
  it.each<[readonly ContentType[], readonly ContentType[]]>([
    [[MSGPACK, JSON_TYPE], BOTH],
    [[MSGPACK], [MSGPACK]],
    [['application/json; charset=utf-8', JSON_TYPE], ['application/json; charset=utf-8']],
    [
      ['text/html', MSGPACK, 'application/problem+json', JSON_TYPE],
      [...BOTH, 'text/html', 'application/problem+json'],
    ],
    [[], []],
  ])('%j', (provides, offers) => {
    expect(orderOffers(provides)).toEqual(offers)
  })
})

/** A type that is sent, what the document accepts, whether it is taken. */
type Taking = readonly [string | undefined, readonly string[], boolean]

const READ: readonly string[] = [JSON_TYPE, MSGPACK]
const PLAIN = 'text/plain'

const TAKEN: readonly Taking[] = [
  [JSON_TYPE, READ, true],
  ['Application/JSON', READ, true],
  ['application/json;charset=UTF-8', READ, true],
  ['application/json; charset="utf-8"', READ, true],
  ['application/json; charset=us-ascii; x=y', READ, true],
  ['application/json ;charset=utf8', READ, true],
  [MSGPACK, READ, true],
  ['application/x-msgpack', READ, false],
  ['application/jsonx', READ, false],
  ['application', READ, false],
  [PLAIN, READ, false],
  ['', READ, false],
  [';', READ, false],
  [undefined, READ, false],
  ['application/vnd.api+json', READ, false],
  ['application/vnd.api+json; profile="a,b"', ['application/*+json'], true],
  ['application/merge-patch+json', ['application/*+json'], true],
  ['text/x+json', ['application/*+json'], false],
  [JSON_TYPE, ['application/*+json'], false],
  ['image/svg+xml', ['image/*'], true],
  ['image/svg+xml', ['application/xml'], false],
  ['text/xml; charset=utf-8', ['application/xml'], false],
  ['imagex/png', ['image/*'], false],
  ['multipart/form-data; boundary=----=_Part_0', ['multipart/form-data'], true],
  ['multipart/form-data; boundary="a, b;c"', ['multipart/*'], true],
  ['application/x-ndjson', ['*/*'], true],
  ['*/*', ['*/*'], false],
  ['image/*', ['image/*'], false],
  ['text', ['*/*'], false],
  ['text/', ['*/*'], false],
  // Two lines of Content-Type, joined.
  [`${JSON_TYPE}, ${PLAIN}`, ['*/*'], false],
  [`${JSON_TYPE}; charset=utf-8, ${PLAIN}`, ['*/*'], false],
  ['text/csv; header="a\\"b"', ['text/csv'], true],
  ['text/csv; header="a', ['text/csv'], false],
  ['text/csv', ['text/csv; header=present'], false],
  ['text/csv; Header=present', ['text/csv; header=present'], true],
  ['text/csv; header=Present', ['text/csv; header=present'], false],
  ['text/csv; header="present"', ['text/csv; header=present'], true],
  ['text/csv; header=present; charset=utf-8', ['text/csv; header=present'], false],
  ['text/csv; charset=UTF-8; header=present', ['text/csv; charset=utf-8; header=present'], true],
  ['application/json; charset=utf-8; v=1', ['application/json; v=1'], true],
]

describe('isAcceptedType', () => {
  it.each(TAKEN)('%p where %j is accepted: %p', (contentType, accepts, expected) => {
    const taken = { method: 'post', accepts, isForgeable: false } as const
    expect(isAcceptedType(contentType, taken)).toBe(expected)
  })

  it.each<Taking>([
    [PLAIN, ['*/*'], false],
    ['Text/Plain;charset=utf-8', ['*/*'], false],
    ['multipart/form-data; boundary=x', ['*/*'], false],
    ['application/x-www-form-urlencoded', ['*/*', JSON_TYPE], false],
    [PLAIN, ['*/*', PLAIN], true],
    [PLAIN, ['text/*'], true],
    ['multipart/form-data; boundary=x', ['multipart/*'], true],
    ['multipart/mixed; boundary=x', ['*/*'], true],
    [JSON_TYPE, ['*/*'], true],
    ['image/png', ['*/*'], true],
  ])(
    '%p where %j is accepted of browsers with credentials: %p',
    (contentType, accepts, expected) => {
      const taken = { method: 'post', accepts, isForgeable: true } as const
      expect(isAcceptedType(contentType, taken)).toBe(expected)
    },
  )

  it('reads a type of a megabyte in one pass', () => {
    const taken = { method: 'post', accepts: ['a/b; c=d'], isForgeable: false } as const
    expect(isAcceptedType(`a/b${'; c="d'.repeat(200_000)}`, taken)).toBe(false)
    expect(isAcceptedType(`a/b${'; c=d'.repeat(200_000)}`, taken)).toBe(false)
  })
})

describe('isReadType', () => {
  it.each<Taking>([
    ['application/json; charset=latin1', READ, false],
    ['application/json; charset=', READ, false],
    ['application/json; charset=utf8', READ, true],
    ['application/vnd.api+json; charset=utf-16', ['application/*+json'], false],
    ['text/csv; charset=latin1', ['text/*'], true],
  ])('%p where %j is accepted: %p', (contentType, accepts, expected) => {
    expect(isReadType(contentType, { method: 'post', accepts, isForgeable: false })).toBe(expected)
  })
})

describe('writtenType', () => {
  it.each<[string | undefined, string | undefined, string]>([
    [MSGPACK, undefined, MSGPACK],
    ['application/json; charset=utf-8', undefined, 'application/json; charset=utf-8'],
    ['text/html', 'text/html', JSON_TYPE],
    ['text/html', `text/html, ${MSGPACK}`, MSGPACK],
    ['application/problem+json', undefined, JSON_TYPE],
    [undefined, MSGPACK, MSGPACK],
  ])('%p, offered to %p: %p', (offered, accept, expected) => {
    expect(writtenType(offered, accept)).toBe(expected)
  })
})

describe('pickLanguage', () => {
  const languages = ['en', 'es-AR', 'pt']

  it.each([
    [undefined, 'en'],
    ['', 'en'],
    ['es-AR', 'es-AR'],
    ['ES-ar', 'es-AR'],
    ['es', 'es-AR'],
    ['pt-BR', 'pt'],
    ['fr', 'en'],
    ['fr, pt;q=0.1', 'pt'],
    ['pt;q=0.5, es;q=0.6', 'es-AR'],
    ['pt;q=0', 'en'],
    ['*', 'en'],
    ['pt;q=0.2, *;q=0.1', 'pt'],
    ['p', 'en'],
    ['constructor', 'en'],
  ])('%p: %p', (header, expected) => {
    expect(pickLanguage(header, languages)).toBe(expected)
  })

  it('of one, or none, there is nothing to pick', () => {
    expect(pickLanguage('pt', ['en'])).toBe('en')
    expect(pickLanguage('pt', [])).toBe('')
  })
})
