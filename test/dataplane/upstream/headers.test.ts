import { describe, expect, it, jest } from '@jest/globals'
import {
  fromClient,
  fromDocument,
  fromUpstream,
  hasForeignCoding,
  valuesOf,
} from '../../../dataplane/upstream/headers.ts'
import { requestHeaderMap } from '../../../dataplane/header-map.ts'
import { toText } from '../../../language/expression/text.ts'
import { dashed } from '../../../language/unsent-headers.ts'
import type { ValueMap } from '../../../language/expression/value.ts'

type Pairs = readonly (readonly [string, string])[]

const raw = (pairs: Pairs): string[] => pairs.flat()

describe('fromClient', () => {
  it.each([
    'Host',
    'Content-Length',
    'Transfer-Encoding',
    'TE',
    'Trailer',
    'Upgrade',
    'Keep-Alive',
    'Proxy-Connection',
    'Proxy-Authorization',
    'Proxy-Authenticate',
    'HTTP2-Settings',
    'Expect',
    'X-Request-Id',
    'X_Request_Id',
    'Forwarded',
    'X-Real-IP',
    'x_real_ip',
    'X-Original-URL',
    'x_original-url',
    'X-Rewrite-Url',
    'Proxy',
    'X-Forwarded-For',
    'X_Forwarded_For',
    'x-forwarded_for',
    'X_FORWARDED-HOST',
    'X-Forwarded-Proto',
    'X-Forwarded-Port',
    'X-Forwarded-Prefix',
    'X-Svc-User',
    'x_svc_user',
    'content_length',
    'transfer_encoding',
  ])('%s is dropped', (name) => {
    expect(
      fromClient(
        raw([
          [name, '1'],
          ['X-Public', 'p'],
        ]),
        [],
      ),
    ).toEqual(['x-public', 'p'])
  })

  it.each([
    'Accept',
    'Authorization',
    'traceparent',
    'Content-Type',
    'constructor',
    '__proto__',
    'x_a',
    'x-svc',
  ])('%s passes', (name) => {
    expect(fromClient(raw([[name, 'v']]), [])).toEqual([name.toLowerCase(), 'v'])
  })

  it('repeated headers pass one by one', () => {
    expect(
      fromClient(
        raw([
          ['A', '1'],
          ['a', '2'],
        ]),
        [],
      ),
    ).toEqual(['a', '1', 'a', '2'])
  })

  it.each([
    ['keep-alive', ['x-private', '1', 'x-public', '2']],
    ['close', ['x-private', '1', 'x-public', '2']],
    ['X-Private, keep-alive', ['x-public', '2']],
    ['x-private ,X-PUBLIC', []],
  ])('Connection: %s', (value, kept) => {
    const sent = raw([
      ['X-Private', '1'],
      ['Connection', value],
      ['X-Public', '2'],
    ])
    expect(fromClient(sent, [])).toEqual(kept)
  })

  it('two Connection headers count both', () => {
    const sent = raw([
      ['connection', 'a'],
      ['a', '1'],
      ['connection', 'b'],
      ['b', '2'],
      ['c', '3'],
    ])
    expect(fromClient(sent, [])).toEqual(['c', '3'])
  })

  it.each([
    ['authorization', 'Authorization'],
    ['x-api-key', 'X-Api-Key'],
    ['x-api-key', 'x_api_key'],
  ])('the checked credential %s stays here as %s', (credential, name) => {
    expect(
      fromClient(
        raw([
          [name, 'secret'],
          ['a', 'b'],
        ]),
        [credential],
      ),
    ).toEqual(['a', 'b'])
  })

  it.each([
    ['a=1; b=2', ['cookie', 'a=1; b=2']],
    ['a=1; svc_ticket_com.acme=t; b=2; svc_csrf_com.acme=c', ['cookie', 'a=1; b=2']],
    ['svc_ticket_com.acme=t', []],
    ['__Host-svc_oidc_1=x;a=1', ['cookie', 'a=1']],
    ['svc_ticket_r=t;\tsvc_csrf_r=c ; a=1', ['cookie', 'a=1']],
    ['svc_ticket_https%3A//r=t; a=svc_; svc_ticket_r=', ['cookie', 'a=svc_']],
    ['svc_ticket_r=1; svc_ticket_r=2;; a=1;', ['cookie', 'a=1']],
    ['not_svc_ticket_x=1', ['cookie', 'not_svc_ticket_x=1']],
    ['a="svc_ticket_x=1"', ['cookie', 'a="svc_ticket_x=1"']],
  ])('Cookie: %s', (value, kept) => {
    expect(fromClient(raw([['Cookie', value]]), [])).toEqual(kept)
  })
})

describe('fromDocument', () => {
  const read = (
    map: ValueMap,
    sent: Pairs = [],
    credential?: string,
    { written = [], dropped = [] }: { written?: string[]; dropped?: string[] } = {},
  ) =>
    fromDocument(map, {
      toText,
      credentials: credential === undefined ? [] : [credential],
      clients: requestHeaderMap(raw(sent)),
      written: new Set(written),
      dropped: new Set(dropped),
      isClients: (plain, value) =>
        sent.some(([name, each]) => dashed(name) === plain && each === value),
    })

  it.each<[string, ValueMap, string[]]>([
    ['text', { 'X-A': 'v' }, ['x-a', 'v']],
    ['a number', { a: 1.5 }, ['a', '1.5']],
    ['a boolean', { a: true }, ['a', 'true']],
    ['null is no header', { a: null, b: '' }, ['b', '']],
    ['a list is several', { a: ['1', 2] }, ['a', '1', 'a', '2']],
    ['beyond Latin-1 goes as UTF-8', { a: 'ž' }, ['a', '\u00c5\u00be']],
    ['within Latin-1 too', { a: 'caf\u00e9' }, ['a', 'caf\u00c3\u00a9']],
    ['a URL is encoded', { location: '/caf\u00e9' }, ['location', '/caf%C3%A9']],
    ['a tab is fine', { a: 'x\ty' }, ['a', 'x\ty']],
    [
      'two spellings are one name',
      { 'x-user': 'c', b: 'b', 'X-User': 'd' },
      ['x-user', 'd', 'b', 'b'],
    ],
    ['the last of them counts, also null', { 'X-User': 'd', 'x-user': null }, []],
    ['framing is ours', { Host: 'evil', 'content-length': '3', Connection: 'x', te: 'y' }, []],
    ['so are the forwarding headers', { 'x-forwarded-for': '1', 'X-Request-Id': '2' }, []],
    [
      'claims of its own',
      { 'x-svc-user': 'ann', 'x-real-ip': '::1' },
      ['x-svc-user', 'ann', 'x-real-ip', '::1'],
    ],
    ['own cookies', { cookie: 'svc_csrf_r=1; a=2' }, ['cookie', 'a=2']],
    [
      'own cookies in a list',
      { Cookie: ['svc_ticket_r=t', 'b=1; __Host-svc_oidc_1=x'] },
      ['cookie', 'b=1'],
    ],
    [
      'reserved words',
      { constructor: 'c', ['__proto__']: 'p' },
      ['constructor', 'c', '__proto__', 'p'],
    ],
  ])('%s', (_, map, list) => {
    expect(read(map)).toEqual({ list })
  })

  it.each<[string, ValueMap, Pairs, string | undefined, string[]]>([
    [
      'a claim that is the client’s',
      { 'x-svc-user': 'root' },
      [['x-svc-user', 'root']],
      undefined,
      [],
    ],
    ['spelled otherwise', { x_svc_user: 'root' }, [['x-svc-user', 'root']], undefined, []],
    [
      'a claim of its own beside it',
      { 'x-svc-user': 'ann' },
      [['x-svc-user', 'root']],
      undefined,
      ['x-svc-user', 'ann'],
    ],
    [
      'the credential handed on',
      { authorization: 'B' },
      [['authorization', 'B']],
      'authorization',
      [],
    ],
    [
      'a credential of its own',
      { authorization: 'C' },
      [['authorization', 'B']],
      'authorization',
      ['authorization', 'C'],
    ],
    [
      'anything else handed on',
      { accept: 'x' },
      [['accept', 'x']],
      'authorization',
      ['accept', 'x'],
    ],
  ])('%s', (...[, map, sent, credential, list]) => {
    expect(read(map, sent, credential)).toEqual({ list })
  })

  it.each<[string, ValueMap, Pairs, string[], string[]]>([
    [
      'with _ beside one that it writes',
      { x_user: 'admin', 'x-user': 'ada' },
      [['X_User', 'admin']],
      ['x-user'],
      ['x-user', 'ada'],
    ],
    [
      'with _ beside one of the same value as the client has sent',
      { x_user: 'admin', 'x-user': 'ada' },
      [
        ['X_User', 'admin'],
        ['X-User', 'ada'],
      ],
      [],
      ['x-user', 'ada'],
    ],
    [
      'with - beside one that it writes with _',
      { 'x-user': 'admin', x_user: 'ada' },
      [['X-User', 'admin']],
      [],
      ['x_user', 'ada'],
    ],
    [
      'with - beside one that it writes with _, of the same value',
      { 'x-a-b': 'admin', 'x_a-b': 'c', x_a_b: 'ada' },
      [
        ['X-A-B', 'admin'],
        ['x_a-B', 'c'],
        ['X_A_B', 'ada'],
      ],
      ['x_a_b'],
      ['x_a_b', 'ada'],
    ],
    ['with _ alone', { x_a: '1', b: '2' }, [['x_a', '1']], ['b'], ['x_a', '1', 'b', '2']],
  ])('passes on no name of the client %s', (...[, map, sent, written, list]) => {
    expect(read(map, sent, undefined, { written })).toEqual({ list })
  })

  it.each<[string, ValueMap, Pairs, string, string[]]>([
    ['with _', { x_user: 'admin', b: '1' }, [['X_User', 'admin']], 'x-user', ['b', '1']],
    [
      'in no spelling but the other',
      { 'x-user': 'ada' },
      [['X-User', 'ada']],
      'x_user',
      ['x-user', 'ada'],
    ],
    ['but its own value', { x_user: 'ada' }, [['X_User', 'admin']], 'x-user', ['x_user', 'ada']],
  ])('passes on no name that it takes away, %s', (...[, map, sent, dropped, list]) => {
    expect(read(map, sent, undefined, { dropped: [dropped] })).toEqual({ list })
  })

  it('sends both spellings if both are of the document', () => {
    const both = ['x_a', '1', 'x-a', '2']
    expect(read({ x_a: '1', 'x-a': '2' })).toEqual({ list: both })
    const sent: Pairs = [['x_a', '1']]
    expect(read({ x_a: '1', 'x-a': '2' }, sent, undefined, { written: ['x_a'] })).toEqual({
      list: both,
    })
  })

  it('passes on no claim of several lines in several spellings', () => {
    const sent: Pairs = [
      ['X-Svc-User', 'root'],
      ['x-svc-user', ''],
      ['x_svc_user', 'z'],
    ]
    expect(read(requestHeaderMap(raw(sent)), sent)).toEqual({ list: [] })
  })

  it.each<[string, ValueMap]>([
    ['CR LF', { 'x-v': 'a\r\nx-evil: 1' }],
    ['LF', { 'x-v': 'a\nb' }],
    ['NUL', { 'x-v': 'a\u0000' }],
    ['in a list', { 'x-v': ['ok', 'a\nb'] }],
    ['a blank in a name', { 'x v': 'a' }],
    ['no name', { '': 'a' }],
    ['a colon in a name', { 'a:b': 'a' }],
    ['letters beyond ASCII in a name', { ž: 'a' }],
  ])('%s is a fault', (_, map) => {
    expect(read(map).problem).toEqual(expect.any(String))
  })
})

describe('fromUpstream', () => {
  it.each<[string, Pairs, Pairs]>([
    [
      'end-to-end only',
      [
        ['X-Case', 'Kept'],
        ['Connection', 'keep-alive'],
        ['Keep-Alive', 'timeout=5'],
      ],
      [['x-case', 'Kept']],
    ],
    [
      'named by Connection',
      [
        ['Connection', 'close, X-Hop'],
        ['x-hop', '1'],
        ['x-end', '2'],
      ],
      [['x-end', '2']],
    ],
    ['length stays', [['Content-Length', '3']], [['content-length', '3']]],
    [
      "the gateway's cookies, in any disguise that a browser takes off",
      [
        ['Set-Cookie', 'a=1; Path=/'],
        ['Set-Cookie', 'svc_ticket_com.acme=x; Path=/'],
        ['SET-COOKIE', ' svc_csrf_com.acme=x'],
        ['set-cookie', '__Host-svc_oidc_1=x; Secure; Path=/'],
        ['set-cookie', '=svc_ticket_com.acme=x'],
        ['set-cookie', '\t= = svc_ticket_com.acme=x'],
        ['set-cookie', '\u0001svc_ticket_com.acme=x'],
        ['set-cookie', 'b=svc_ticket_x; Comment=svc_csrf_x'],
        ['x-cookie', 'svc_ticket_x=1'],
      ],
      [
        ['set-cookie', 'a=1; Path=/'],
        ['set-cookie', 'b=svc_ticket_x; Comment=svc_csrf_x'],
        ['x-cookie', 'svc_ticket_x=1'],
      ],
    ],
    [
      'but not beside chunks',
      [
        ['Content-Length', '3'],
        ['Transfer-Encoding', 'chunked'],
        ['a', 'b'],
      ],
      [['a', 'b']],
    ],
    [
      'trailer and upgrade',
      [
        ['Trailer', 'x'],
        ['Upgrade', 'h2c'],
        ['Proxy-Authenticate', 'Basic'],
      ],
      [],
    ],
    [
      'order and repeats',
      [
        ['Set-Cookie', 'a=1'],
        ['x', 'y'],
        ['set-cookie', 'b=2'],
      ],
      [
        ['set-cookie', 'a=1'],
        ['x', 'y'],
        ['set-cookie', 'b=2'],
      ],
    ],
  ])('%s', (_, sent, kept) => {
    expect(fromUpstream(raw(sent))).toEqual(kept)
    expect(fromUpstream(raw(sent).map((each) => Buffer.from(each)))).toEqual(kept)
  })

  it('values by name', () => {
    expect(valuesOf(['Host', 'a', 'hosT', 'b', 'hose', 'c'], 'host')).toEqual(['a', 'b'])
  })
})

it('names in many Connection lines are each taken once', () => {
  const lines = Array.from({ length: 500 }, (_, at): [string, string] => ['Connection', `x-${at}`])
  const add = jest.spyOn(Set.prototype, 'add')
  const kept = fromUpstream(raw([...lines, ['x-7', 'a'], ['y', 'b']]))
  const added = add.mock.calls.length
  add.mockRestore()
  expect(kept).toEqual([['y', 'b']])
  expect(added).toBe(500)
})

it('headers of a document have a bounded number of characters together', () => {
  const value = 'v'.repeat(2 ** 16)
  let written = 0
  const send = (values: ValueMap) =>
    fromDocument(values, {
      toText: (each) => {
        written++
        return toText(each)
      },
      credentials: [],
      clients: {},
      written: new Set<string>(),
      dropped: new Set<string>(),
      isClients: () => false,
    }).problem
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`x-${at}`, value]))
  expect(send(many(15))).toBeUndefined()
  expect(send(many(1000))).toBe('together they have more than 1048576 characters')
  expect(send({ x: Array.from({ length: 1000 }, () => value) })).toBeDefined()
  expect(written).toBe(15 + 16 + 16)
})

describe('hasForeignCoding', () => {
  it.each<[Pairs, boolean]>([
    [[['content-encoding', 'gzip']], false],
    [[['transfer-encoding', 'chunked']], false],
    [[['Transfer-Encoding', 'Chunked']], false],
    [[['transfer-encoding', 'gzip, chunked']], true],
    [[['transfer-encoding', 'gzip']], true],
    [[['transfer-encoding', 'identity']], true],
    [[['transfer-encoding', '']], true],
    [
      [
        ['transfer-encoding', 'chunked'],
        ['x', 'y'],
        ['transfer-encoding', 'chunked'],
      ],
      true,
    ],
  ])('%j: %p', (sent, expected) => {
    expect(hasForeignCoding(raw(sent))).toBe(expected)
    expect(hasForeignCoding(raw(sent).map((each) => Buffer.from(each)))).toBe(expected)
  })
})
