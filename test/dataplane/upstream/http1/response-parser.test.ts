// Responses as they may come, well-formed and not: what is read of each is the same however its bytes are split.

import { describe, expect, it } from '@jest/globals'
import { ResponseParser } from '../../../../dataplane/upstream/http1/response-parser.ts'
import {
  bytesOf,
  readResponse,
  splitsOf,
  type Reading,
  type ReadResponse,
} from './read-response.ts'

const chunked = (chunks: string, more = ''): string =>
  `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n${more}\r\n${chunks}`
const sized = (length: string, body = ''): string =>
  `HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n${body}`
const withField = (line: string): string =>
  `HTTP/1.1 200 OK\r\n${line}\r\nContent-Length: 0\r\n\r\n`
const NEXT = 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\nX-Smuggled: yes\r\n\r\nhidden'

/** The same for every split, and then given once. */
const readAll = (text: string, reading?: Reading): ReadResponse => {
  const bytes = bytesOf(text)
  const whole = readResponse([bytes], reading)
  for (const pieces of splitsOf(bytes)) expect(readResponse(pieces, reading)).toEqual(whole)
  return whole
}

describe('a response', () => {
  it.each<readonly [string, string, Partial<ReadResponse>, Reading?]>([
    ['of known length', sized('2', 'ok'), { body: 'ok', keepsAlive: true }],
    ['of length 0', sized('0'), { body: '', keepsAlive: true }],
    ['with a length of many digits', sized('000000000000002', 'ok'), { body: 'ok' }],
    ['without a reason phrase', 'HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n', { statusCode: 200 }],
    [
      'without the blank before it',
      'HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n',
      { statusCode: 200 },
    ],
    [
      'with a reason in Latin-1',
      'HTTP/1.1 404 Tür\tzu\r\nContent-Length: 0\r\n\r\n',
      { statusCode: 404 },
    ],
    [
      'with a status of its own',
      'HTTP/1.1 799 Odd\r\nContent-Length: 0\r\n\r\n',
      { statusCode: 799 },
    ],
    ['in one chunk', chunked('2\r\nok\r\n0\r\n\r\n'), { body: 'ok', keepsAlive: true }],
    ['in chunks', chunked('1\r\no\r\n01\r\nk\r\n00\r\n\r\n'), { body: 'ok' }],
    [
      'in chunks with hexadecimal sizes',
      chunked(`1a\r\n${'x'.repeat(26)}\r\nA\r\n0123456789\r\n0\r\n\r\n`),
      { body: `${'x'.repeat(26)}0123456789` },
    ],
    [
      'in chunks that contain line breaks',
      chunked('4\r\n\r\n\r\n\r\n0\r\n\r\n'),
      { body: '\r\n\r\n' },
    ],
    [
      'with chunk extensions',
      chunked('2;a;b=c;d="e;\\"\r'.replace('\r', '"') + '\r\nok\r\n0;last\r\n\r\n'),
      { body: 'ok', keepsAlive: true },
    ],
    [
      'with trailers',
      chunked('2\r\nok\r\n0\r\nX-Sum: 1\r\nX-B:\r\n\r\n'),
      { body: 'ok', keepsAlive: true },
    ],
    [
      'named CHUNKED',
      chunked('0\r\n\r\n').replace('chunked', 'CHUNKED'),
      { body: '', keepsAlive: true },
    ],
    [
      'until the connection closes',
      'HTTP/1.1 200 OK\r\n\r\nall of it',
      { body: 'all of it', keepsAlive: false },
      { closes: true },
    ],
    ['of HTTP/1.0 until then', 'HTTP/1.0 200 OK\r\n\r\nold', { body: 'old' }, { closes: true }],
    ['of HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n', { keepsAlive: false }],
    [
      'of HTTP/1.0 that is kept',
      'HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n',
      { keepsAlive: true },
    ],
    [
      'of HTTP/1.0 in chunks, which others may have passed on unread',
      chunked('0\r\n\r\n', 'Connection: keep-alive\r\n').replace('1.1', '1.0'),
      { keepsAlive: false },
    ],
    ['that closes', withField('Connection: close'), { keepsAlive: false }],
    ['that closes in a list', withField('Connection: x, CLOSE ,y'), { keepsAlive: false }],
    [
      'whose Connection names the fields of framing',
      withField('Connection: content-length, transfer-encoding'),
      { body: '', keepsAlive: true },
    ],
    [
      'with framing under names that look alike, which mean nothing',
      `HTTP/1.1 200 OK\r\nContent_Length: 1\r\nTransfer_Encoding: chunked\r\nX-Transfer-Encoding: chunked\r\n${sized('2', 'ok').slice(17)}`,
      { body: 'ok' },
    ],
    ['that names close in another field', withField('X-Connection: close'), { keepsAlive: true }],
    [
      'to HEAD',
      'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n',
      { body: '', end: 'complete' },
      { method: 'HEAD' },
    ],
    ['to HEAD in chunks', chunked(''), { body: '', end: 'complete' }, { method: 'HEAD' }],
    ['204', 'HTTP/1.1 204 No Content\r\n\r\n', { body: '', keepsAlive: true }],
    [
      '204 with a length of 0',
      'HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n',
      { keepsAlive: true },
    ],
    [
      '204 that announces a body',
      'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n',
      { body: '', keepsAlive: false },
    ],
    [
      '304 with the length of the 200',
      'HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n',
      { body: '', keepsAlive: false },
    ],
    [
      '304 in chunks',
      'HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n',
      { body: '', keepsAlive: false },
    ],
    ['205, whose body belongs to it', sized('2', 'ok').replace('200', '205'), { body: 'ok' }],
    [
      'after interim ones',
      `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${sized('2', 'ok')}`,
      { statusCode: 200, body: 'ok' },
    ],
    [
      'after an interim one with a length of 0, as some servers write it',
      `HTTP/1.1 100 Continue\r\nContent-Length: 0\r\n\r\n${sized('2', 'ok')}`,
      { body: 'ok' },
    ],
  ])('%s', (_, text, expected, ...[reading]) => {
    expect(readAll(text, reading)).toMatchObject({ end: 'complete', ...expected })
  })

  it('has its fields in order, names in lower case, without the blanks around values', () => {
    const text =
      'HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nX-Case:\t Kept \t\r\nset-cookie:b=2\r\nX-Empty:\r\nX-Text: \xe9\r\n__proto__: x\r\nContent-Length: 0\r\n\r\n'
    expect(readAll(text).headers).toEqual(
      'set-cookie a=1 x-case Kept set-cookie b=2 x-empty  x-text \xe9 __proto__ x content-length 0'.split(
        ' ',
      ),
    )
  })

  it('has its fields without blanks before the colon', () => {
    const text = 'HTTP/1.1 200 OK\r\nX-A : 1\r\nConnection \t: close\r\nContent-Length: 0\r\n\r\n'
    expect(readAll(text)).toMatchObject({
      end: 'complete',
      headers: ['x-a', '1', 'connection', 'close', 'content-length', '0'],
      keepsAlive: false,
    })
  })

  it.each([
    ['timeout=5', 5],
    ['max=100, timeout=65', 65],
    ['Timeout = 7', 7],
    ['5', undefined],
    ['xtimeout=5', undefined],
  ])('names the time that it is kept: %s', (value, seconds) => {
    const parser = new ResponseParser()
    const bytes = bytesOf(withField(`Keep-Alive: ${value}`))
    parser.expect('GET')
    parser.feed(bytes, bytes.length)
    expect(parser.next()).toBe('head')
    expect(parser.head?.keepAliveSeconds).toBe(seconds)
  })

  it.each<readonly [string, string, Reading?]>([
    ['before anything', ''],
    ['in the status line', 'HTTP/1.1 20'],
    ['in the head', 'HTTP/1.1 200 OK\r\nContent-'],
    ['in a body of known length', sized('10', 'abc')],
    ['in a chunk', chunked('5\r\nabc')],
    ['after a chunk', chunked('3\r\nabc')],
    ['in the size of a chunk', chunked('3\r\nabc\r\n5')],
    ['before the last chunk', chunked('3\r\nabc\r\n')],
    ['in the trailers', chunked('0\r\nX: 1\r\n')],
    ['after an interim response', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ])('that breaks off %s is not complete', (_, text) => {
    expect(readAll(text).end).toBe('waiting')
    expect(readAll(text, { closes: true }).end).toBe('cut')
  })
})

/** Classes of response desync that are publicly known: recipients that are lenient here have disagreed with others. */
describe('refuses', () => {
  it.each([
    ['two lengths', withField('Content-Length: 5'), 'more than one Content-Length'],
    ['two equal lengths', withField('Content-Length: 0'), 'more than one Content-Length'],
    ['a list of lengths', sized('2, 2', 'ok'), 'an invalid Content-Length'],
    ['a negative length', sized('-2', 'ok'), 'an invalid Content-Length'],
    ['a signed length', sized('+2', 'ok'), 'an invalid Content-Length'],
    ['an empty length', sized('', 'ok'), 'an invalid Content-Length'],
    ['a hexadecimal length', sized('0x2', 'ok'), 'an invalid Content-Length'],
    ['a fractional length', sized('2.0', 'ok'), 'an invalid Content-Length'],
    ['a length with a blank in it', sized('1 2', 'ok'), 'an invalid Content-Length'],
    ['a length that is no exact number', sized('9007199254740993'), 'an invalid Content-Length'],
    ['a length that overflows', sized('18446744073709551618', 'ok'), 'an invalid Content-Length'],
    ['a length with a digit of another script', sized('\xb2', 'ok'), 'an invalid Content-Length'],
    [
      'a length and chunks',
      chunked('0\r\n\r\n', 'Content-Length: 5\r\n'),
      'both Transfer-Encoding and Content-Length',
    ],
    [
      'a length before chunks',
      'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      'both Transfer-Encoding and Content-Length',
    ],
    [
      'an unknown coding',
      chunked('ok').replace('chunked', 'gzip'),
      'a Transfer-Encoding other than chunked',
    ],
    [
      'two codings',
      chunked('0\r\n\r\n').replace('chunked', 'gzip, chunked'),
      'a Transfer-Encoding other than chunked',
    ],
    [
      'chunked twice',
      chunked('0\r\n\r\n').replace('chunked', 'chunked, chunked'),
      'a Transfer-Encoding other than chunked',
    ],
    [
      'chunked in two lines',
      chunked('0\r\n\r\n', 'Transfer-Encoding: chunked\r\n'),
      'a Transfer-Encoding other than chunked',
    ],
    [
      'chunked, then identity',
      chunked('0\r\n\r\n', 'Transfer-Encoding: identity\r\n'),
      'a Transfer-Encoding other than chunked',
    ],
    [
      'an empty coding',
      chunked('ok').replace('chunked', ''),
      'a Transfer-Encoding other than chunked',
    ],
    [
      'chunked with a parameter',
      chunked('0\r\n\r\n').replace('chunked', 'chunked;q=1'),
      'a Transfer-Encoding other than chunked',
    ],
    [
      'chunked with a vertical tab',
      chunked('0\r\n\r\n').replace('chunked', '\x0bchunked'),
      'a control character, a bare CR or a bare LF',
    ],
    [
      'chunked in quotes',
      chunked('0\r\n\r\n').replace('chunked', '"chunked"'),
      'a Transfer-Encoding other than chunked',
    ],
    ...[
      'xchunked',
      'chunked,',
      ', chunked',
      'chunked chunked',
      'chunked identity',
      '\xa0chunked',
    ].map(
      (coding) =>
        [
          `the coding ${JSON.stringify(coding)}`,
          chunked('0\r\n\r\n').replace('chunked', coding),
          'a Transfer-Encoding other than chunked',
        ] as const,
    ),
    ...[' ', '\t', '\t '].map(
      (blanks) =>
        [
          `chunked with ${JSON.stringify(blanks)} behind it`,
          chunked('0\r\n\r\n').replace('chunked', `chunked${blanks}`),
          'a Transfer-Encoding other than chunked',
        ] as const,
    ),
    [
      'a coding on a folded line',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n',
      'a Transfer-Encoding other than chunked',
    ],
    [
      'a coding behind a bare LF',
      'HTTP/1.1 200 OK\r\nX: x\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      'a control character, a bare CR or a bare LF',
    ],
    ['a length in scientific notation', sized('1e1'), 'an invalid Content-Length'],
    ['a length with an underscore', sized('1_0'), 'an invalid Content-Length'],
    ['a length in quotes', sized('"2"', 'ok'), 'an invalid Content-Length'],
    ['a length with a no-break space', sized('2\xa0', 'ok'), 'an invalid Content-Length'],
    [
      'a length that ends with NUL',
      sized('2\0', 'ok'),
      'a control character, a bare CR or a bare LF',
    ],
    ['a blank before the colon', withField('Transfer-Encoding : chunked'), 'an invalid field line'],
    ['a tab before the colon', withField('Content-Length\t: 5'), 'an invalid field line'],
    [
      'a blank before the colon of a length',
      withField('Content-Length : 0'),
      'an invalid field line',
    ],
    ['a blank within a name', withField('X A: 5'), 'an invalid field line'],
    ['a blank before a name', withField(' Content-Length: 5'), 'an invalid field line'],
    ['a folded field', withField('X-A: 1\r\n chunked'), 'an invalid field line'],
    ['a field folded by a tab', withField('X:\r\n\tchunked'), 'an invalid field line'],
    ['an empty name', withField(': 5'), 'an invalid field line'],
    ['a name that is no token', withField('Content(Length): 5'), 'an invalid field line'],
    ['a name beyond ASCII', withField('Content-Length\xa0: 5'), 'an invalid field line'],
    ['a line without a colon', withField('Content-Length'), 'an invalid field line'],
    [
      'a bare LF in a head',
      'HTTP/1.1 200 OK\nContent-Length: 0\n\n',
      'a control character, a bare CR or a bare LF',
    ],
    [
      'a bare LF after a field',
      withField('X: 1\nContent-Length: 5'),
      'a control character, a bare CR or a bare LF',
    ],
    [
      'a bare CR in a field',
      withField('X: 1\rContent-Length: 5'),
      'a control character, a bare CR or a bare LF',
    ],
    ['CR CR LF', withField('X: 1\r'), 'a control character, a bare CR or a bare LF'],
    ['NUL in a field', withField('X: 1\0'), 'a control character, a bare CR or a bare LF'],
    ['DEL in a field', withField('X: \x7f'), 'a control character, a bare CR or a bare LF'],
    ['an empty line before the head', `\r\n${sized('0')}`, 'an invalid status line'],
    ['HTTP/2', sized('0').replace('HTTP/1.1', 'HTTP/2.0'), 'an invalid status line'],
    ['HTTP/1.2', sized('0').replace('1.1', '1.2'), 'an invalid status line'],
    ['HTTP/0.9', 'hello\r\n\r\n', 'an invalid status line'],
    ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n', 'an invalid status line'],
    ['ICY', sized('0').replace('HTTP/1.1', 'ICY'), 'an invalid status line'],
    ['lower case', sized('0').replace('HTTP', 'http'), 'an invalid status line'],
    ['a blank before the version', ` ${sized('0')}`, 'an invalid status line'],
    ['a status with a blank in it', sized('0').replace('200', '20 0'), 'an invalid status line'],
    [
      'NUL in the reason',
      sized('0').replace('OK', 'O\0K'),
      'a control character, a bare CR or a bare LF',
    ],
    [
      'a response in the reason',
      sized('0').replace('OK', 'OK\rContent-Length: 5'),
      'a control character, a bare CR or a bare LF',
    ],
    ['two blanks', sized('0').replace(' 200', '  200'), 'an invalid status line'],
    ['a tab before the status', sized('0').replace(' 200', '\t200'), 'an invalid status line'],
    ['a status of two digits', sized('0').replace('200', '20'), 'an invalid status line'],
    ['a status of four digits', sized('0').replace('200', '2000'), 'an invalid status line'],
    ['a status below 100', sized('0').replace('200', '099'), 'an invalid status line'],
    ['a status in hexadecimal', sized('0').replace('200', '2a0'), 'an invalid status line'],
    [
      '101',
      'HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
      'a switch of protocols that was not requested',
    ],
    [
      '101 without Upgrade',
      'HTTP/1.1 101 Switching\r\n\r\n',
      'a switch of protocols that was not requested',
    ],
    [
      'an interim response that closes',
      `HTTP/1.1 103 Early Hints\r\nConnection: close\r\n\r\n${sized('0')}`,
      'an interim response that ends the connection',
    ],
    [
      'an interim response of HTTP/1.0',
      `HTTP/1.0 100 Continue\r\n\r\n${sized('0')}`,
      'an interim response that ends the connection',
    ],
    [
      'an interim response with a length',
      `HTTP/1.1 102 Wait\r\nContent-Length: 9\r\n\r\n${sized('2', 'ok')}`,
      'an interim response that announces a body',
    ],
    [
      'an interim response in chunks',
      `HTTP/1.1 103 Early Hints\r\nTransfer-Encoding: chunked\r\n\r\n${sized('2', 'ok')}`,
      'an interim response that announces a body',
    ],
    ['what is no size, before its line ends', chunked('zz'), 'an invalid chunk'],
    ['a size that is no number', chunked('zz\r\n'), 'an invalid chunk'],
    ['an empty size', chunked('\r\n'), 'an invalid chunk'],
    ['a negative size', chunked('-1\r\n'), 'an invalid chunk'],
    ['a signed size', chunked('+2\r\nok\r\n0\r\n\r\n'), 'an invalid chunk'],
    ['a size with a tab', chunked('2\t\r\nok\r\n0\r\n\r\n'), 'an invalid chunk'],
    [
      'a size with a blank before extensions',
      chunked('2 ;a\r\nok\r\n0\r\n\r\n'),
      'an invalid chunk',
    ],
    ['a size with NUL', chunked('2\0\r\nok\r\n'), 'a control character, a bare CR or a bare LF'],
    ['a chunk without a line end', chunked('2\r\nok0\r\n\r\n'), 'an invalid chunk'],
    [
      'a chunk that ends with two octets of another kind',
      chunked('2\r\nokxx0\r\n\r\n'),
      'an invalid chunk',
    ],
    ['a response in place of the last line end', chunked(`0\r\n${NEXT}`), 'invalid trailers'],
    ['a size with 0x', chunked('0x2\r\nok\r\n0\r\n\r\n'), 'an invalid chunk'],
    ['a size with a blank before it', chunked(' 2\r\nok\r\n0\r\n\r\n'), 'an invalid chunk'],
    ['a size with a blank after it', chunked('2 \r\nok\r\n0\r\n\r\n'), 'an invalid chunk'],
    ['a size with an underscore', chunked('1_0\r\n'), 'an invalid chunk'],
    ['a size that overflows 64 bits', chunked('10000000000000002\r\nok\r\n'), 'an invalid chunk'],
    ['a size that is no exact number', chunked('20000000000001\r\n'), 'an invalid chunk'],
    [
      'a size that ends with LF',
      chunked('2\nok\r\n0\r\n\r\n'),
      'a control character, a bare CR or a bare LF',
    ],
    ['a chunk that is longer than its size', chunked('2\r\nokk\r\n0\r\n\r\n'), 'an invalid chunk'],
    ['a chunk that is shorter than its size', chunked('3\r\nok\r\n0\r\n\r\n'), 'an invalid chunk'],
    ['a chunk that ends with LF', chunked('2\r\nok\n0\r\n\r\n'), 'an invalid chunk'],
    ['a chunk that ends with CR', chunked('2\r\nok\r0\r\n\r\n'), 'an invalid chunk'],
    [
      'an extension with LF',
      chunked('2;a\nb\r\nok\r\n0\r\n\r\n'),
      'a control character, a bare CR or a bare LF',
    ],
    [
      'an extension with a bare CR',
      chunked('2;a\rb\r\nok\r\n0\r\n\r\n'),
      'a control character, a bare CR or a bare LF',
    ],
    ['an extension without a name', chunked('2;\r\nok\r\n0\r\n\r\n'), 'an invalid chunk'],
    ['an extension that is not closed', chunked('2;a="b\r\nok\r\n0\r\n\r\n'), 'an invalid chunk'],
    ['an extension of another sign', chunked('2,a\r\nok\r\n0\r\n\r\n'), 'an invalid chunk'],
    ['a trailer that is no field', chunked('0\r\nX\r\n\r\n'), 'invalid trailers'],
    ['a trailer with a length', chunked('0\r\nContent-Length: 5\r\n\r\n'), 'invalid trailers'],
    [
      'a trailer with a coding',
      chunked('0\r\nTransfer-Encoding: chunked\r\n\r\n'),
      'invalid trailers',
    ],
    ['a folded trailer', chunked('0\r\nX: 1\r\n 2\r\n\r\n'), 'invalid trailers'],
    [
      'a trailer with LF',
      chunked('0\r\nX: 1\n\r\n'),
      'a control character, a bare CR or a bare LF',
    ],
    [
      'a last chunk that ends with LF',
      chunked('0\r\n\n'),
      'a control character, a bare CR or a bare LF',
    ],
  ])('%s', (_, text, fault) => {
    const read = readAll(text)
    expect({ end: read.end, fault: read.fault }).toEqual({ end: 'fault', fault })
  })

  // Not at every split, of which there are as many as bytes.
  it('interim responses without end', () => {
    const bytes = bytesOf('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(3000))
    for (const at of [0, 100, 65_000])
      expect(readResponse([bytes.subarray(0, at), bytes.subarray(at)])).toMatchObject({
        end: 'fault',
        fault: 'too many interim responses',
      })
  })

  it.each<readonly [string, string, Reading?]>([
    ['another response', sized('2', 'ok') + NEXT],
    ['a line break', `${sized('2', 'ok')}\r\n`],
    [
      'an interim response behind the final one',
      `${sized('2', 'ok')}HTTP/1.1 100 Continue\r\n\r\n`,
    ],
    ['a response behind one without a body', sized('0') + NEXT],
    ['a response behind one to HEAD', sized('9') + NEXT, { method: 'HEAD' }],
    ['a response behind one that closes', `${withField('Connection: close')}${NEXT}`],
    ['chunks behind 204', 'HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['one byte', `${sized('2', 'ok')}x`],
    ['a body longer than its length', sized('2', 'okay')],
    ['something after the last chunk', chunked('0\r\n\r\nx')],
    ['a body after HEAD', sized('2', 'ok'), { method: 'HEAD' }],
    ['a body after 204', 'HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nok'],
    ['a body after 304', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\nok'],
  ])('to take %s for a part of the response or of the next one', (_, text, ...[reading]) => {
    const read = readAll(text, reading)
    expect(read).toMatchObject({ end: 'leftover', fault: undefined })
    const parser = new ResponseParser()
    parser.feed(bytesOf(NEXT), NEXT.length)
    expect([parser.next(), parser.problem]).toEqual(['fault', 'bytes that belong to no response'])
  })
})

describe('what a peer may send is bounded', () => {
  const refused = (text: string): string | undefined => readResponse([bytesOf(text)]).fault
  const fields = (count: number): string => 'a:\r\n'.repeat(count)
  const extended = (bytes: number, chunks: number): string =>
    `1;${'e'.repeat(bytes)}\r\nx\r\n`.repeat(chunks)

  it.each([
    ['a head', `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(65_508)}\r\n\r\n`, undefined],
    ['a head', `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(65_512)}\r\n\r\n`, undefined],
    ['a head', `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(65_513)}\r\n\r\n`, 'too long a head'],
    ['fields', `HTTP/1.1 200 OK\r\n${fields(1000)}\r\n`, undefined],
    ['fields', `HTTP/1.1 200 OK\r\n${fields(1001)}\r\n`, 'too many field lines'],
    ['an extension', chunked(extended(4000, 1)), undefined],
    ['an extension', chunked(extended(4100, 1)), 'too long chunk extensions'],
    ['all extensions', chunked(extended(1000, 16)), undefined],
    ['all extensions', chunked(extended(1000, 17)), 'too long chunk extensions'],
    ['the digits of a size', chunked(`${'0'.repeat(15)}1\r\nx\r\n`), undefined],
    ['the digits of a size', chunked(`${'0'.repeat(16)}1\r\nx\r\n`), 'an invalid chunk'],
    ['trailers', chunked(`0\r\nx: ${'a'.repeat(16_300)}\r\n\r\n`), undefined],
    ['trailers', chunked(`0\r\nx: ${'a'.repeat(16_400)}\r\n\r\n`), 'too long trailers'],
  ])('%s', (_, text, fault) => {
    expect(refused(text)).toBe(fault)
    const bytes = bytesOf(text)
    const byByte = Array.from(bytes, (__, at) => bytes.subarray(at, at + 1))
    expect(readResponse(byByte).fault).toBe(fault)
  })
})

it('reads one response after another, each as requested', () => {
  const parser = new ResponseParser()
  const ends = ['HEAD', 'GET', 'HEAD', 'GET'].map((method) => {
    const bytes = bytesOf(method === 'HEAD' ? sized('7') : sized('7', 'no head'))
    parser.expect(method)
    parser.feed(bytes, bytes.length)
    const steps: string[] = []
    do steps.push(parser.next())
    while (steps.at(-1) !== 'end')
    return [...steps, parser.keepsAlive, parser.hasMore]
  })
  expect(ends).toEqual([
    ['head', 'end', true, false],
    ['head', 'data', 'end', true, false],
    ['head', 'end', true, false],
    ['head', 'data', 'end', true, false],
  ])
})
