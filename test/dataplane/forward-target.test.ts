// The target that a client sends, and the one that a real server is sent for it by a whole serving process: the same bytes,
// or nothing at all.

import { createServer, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { type ServedForwards, serveForwards } from '../fuzz/targets/served-forwards.ts'

let served: ServedForwards
let upstreamHost = ''
const seen: IncomingMessage[] = []

const upstream = createServer((incoming, response) => {
  seen.push(incoming)
  response.end('ok')
})

const pathsTo = (host: string): object => {
  upstreamHost = new URL(host).host
  const forward = (more: object): object => ({ action: { type: 'forward', host, ...more } })
  return {
    '/left/[...]': { get: forward({}) },
    '/whole/[...]': {
      get: forward({ path: '{{request.path}}', query_string: '{{request.query_string}}' }),
    },
    '/under/[...]': {
      get: forward({
        path: '"/v 2{{request.path}}"',
        query_string: 'f={"a"}&{{request.query_string}}',
      }),
    },
    '/late/[...]': {
      variables: { under: '/v|3{{request.path}}' },
      get: forward({ path: '{{variables.under}}', query_string: '' }),
    },
    '/part/:a/card': { get: forward({ path: '/people/{{request.bindings.a}}/card' }) },
    '/value/:a': { get: forward({ path: '/x', query_string: 'q={{request.query_params.q}}' }) },
    '/data': {
      post: forward({
        http_method: 'get',
        path: '{{request.body.p}}',
        query_string: '{{request.body.q}}',
        body: '',
      }),
    },
  }
}

beforeAll(async () => {
  served = await serveForwards(pathsTo, (socket: Socket) => upstream.emit('connection', socket))
})

afterAll(() => served.close())

beforeEach(() => {
  seen.length = 0
})

const head = (line: string, headers: readonly string[]): Buffer =>
  Buffer.from(
    [`${line} HTTP/1.1`, 'Host: api.test', 'Connection: close', ...headers, '', ''].join('\r\n'),
  )

/** The status of the response, and the targets that the upstream was sent meanwhile. */
const ask = async (
  ...parts: readonly Uint8Array[]
): Promise<{ readonly status: number; readonly targets: readonly string[] }> => {
  seen.length = 0
  await using client = await served.connect()
  client.send(parts)
  const { status } = await client.response()
  expect(seen.map(({ headers }) => headers.host)).toEqual(seen.map(() => upstreamHost))
  expect(served.unexpected()).toEqual([])
  return { status, targets: seen.map(({ url }) => url ?? '') }
}

const get = (target: string) => ask(head(`GET ${target}`, []))

const post = (body: object) => {
  const bytes = Buffer.from(JSON.stringify(body))
  return ask(
    head('POST /data', ['Content-Type: application/json', `Content-Length: ${bytes.length}`]),
    bytes,
  )
}

describe('a path and a query that are left out', () => {
  it.each([
    '/left/a?q[]=1',
    '/left/a?q%5B%5D=1&q%5b%5d=2',
    '/left/a?q[0][b]={"c":"<d>|e^f`g"}',
    '/left/a[1]{2}"3"<4>|5^6`7',
    "/left/-._~!$&'()*+,;=:@",
    '/left/%41%2F%2f%c3%BE%25',
    '/left/a?%zz&100%&%',
    '/left/a?\\..\\',
    '/left/a??b?/../c//d',
    '/left/a?',
    '/left/a/?x',
    '/left/a?X-Amz-Signature=a+b/c=',
    '/left/a?redirect=http://evil.test/%0d%0aX:1',
    '/left/..a/b../...',
    '/left/@evil.test:80/http:/x',
  ])('%s arrives as it is', async (target) => {
    expect(await get(target)).toEqual({ status: 200, targets: [target] })
  })

  it.each([
    ['/left/a#b?c#d', '/left/a%23b?c%23d'],
    ['http://other.test/left/a?q[]=1', '/left/a?q[]=1'],
  ])('%s arrives as %s', async (target, expected) => {
    expect(await get(target)).toEqual({ status: 200, targets: [expected] })
  })
})

describe('a path and a query that are taken whole', () => {
  it.each([
    ['/whole/a?q[]=1&{"x"}', '/whole/a?q[]=1&{"x"}'],
    ['/whole/a[1]#', '/whole/a[1]%23'],
    // The document's own words are made fit to stand there.
    ['/under/a[1]|?q[]="1"', '/v%202/under/a[1]|?f=%7B%22a%22%7D&q[]="1"'],
    ['/late/a[1]|"?', '/v%7C3/late/a[1]|"'],
  ])('%s arrives as %s', async (target, expected) => {
    expect(await get(target)).toEqual({ status: 200, targets: [expected] })
  })
})

describe('what a client may not say', () => {
  it.each([
    // It would be another path to a server that decodes before it resolves.
    ['/left/..%2fadmin', 400],
    ['/left/..%2Fadmin', 400],
    ['/left/%2e%2e%2fadmin', 400],
    ['/left/a%2f..%2f..%2fadmin', 400],
    ['/left/..%5cadmin', 400],
    ['/left/%2e%2e%5Cadmin', 400],
    ['/left/..\\admin', 400],
    ['/left/a\\b', 400],
    ['/left/..;a=b/admin', 400],
    ['/left/..%3ba=b/admin', 400],
    ['/left/..%00/admin', 400],
    ['/left/.%2f', 400],
    // No UTF-8: an overlong dot, a broken escape.
    ['/left/%c0%ae%c0%ae/admin', 400],
    ['/left/%zz', 400],
    // Not matched at all.
    ['/left/../admin', 404],
    ['/left/%2e%2e/admin', 404],
    ['/left/%2E./admin', 404],
    ['/left/./admin', 404],
    ['/left//admin', 404],
    ['//evil.test/left/a', 404],
    ['/%2f/evil.test/left/a', 404],
    ['/left%2fa', 404],
    ['http://evil.test//left/a', 404],
    // No target at all.
    ['\\left\\a', 400],
    ['left/a', 400],
    ['/left/a b', 400],
    ['/left/a\tb', 400],
    ['/left/a?b\x7f', 400],
    ['/left/a?\u017e', 400],
    ['ftp://evil.test/left/a', 400],
    ['http://user@evil.test/left/a', 400],
  ])('%j: %d, and nothing is forwarded', async (target, status) => {
    expect(await get(target)).toEqual({ status, targets: [] })
  })
})

describe('a piece of data in a path or query of the document', () => {
  it.each([
    ['/part/a%2Fb/card', '/people/a%2Fb/card'],
    ['/part/a%3Fb%23c%5B%5D/card', '/people/a%3Fb%23c%5B%5D/card'],
    ['/part/[]/card', '/people/%5B%5D/card'],
    ['/value/x?q=[]%26a%3Db%23%0d%0a', '/x?q=%5B%5D%26a%3Db%23%0D%0A'],
  ])('%s arrives as %s', async (target, expected) => {
    expect(await get(target)).toEqual({ status: 200, targets: [expected] })
  })

  it.each([
    ['/a"b[]', '[]', '/a%22b%5B%5D?%5B%5D'],
    ['/a?b', '', '/a?b'],
    ['//evil.test/x', '', '//evil.test/x'],
    ['/\u017e', '\u017e', '/%C5%BE?%C5%BE'],
  ])('data that is the whole path, %j, and query, %j: %s', async (p, q, expected) => {
    expect(await post({ p, q })).toEqual({ status: 200, targets: [expected] })
  })

  it.each([
    ['/a\r\nX: y', ''],
    ['/a', 'b\r\nX: y'],
    ['/a\u0000', ''],
    ['/a/..', ''],
    ['/a\\..\\b', ''],
    ['@evil.test/', ''],
    ['http://evil.test/', ''],
    ['*', ''],
  ])('data that is the whole path, %j, and query, %j, is refused', async (p, q) => {
    expect(await post({ p, q })).toEqual({ status: 400, targets: [] })
  })
})

describe('whatever is sent', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      ...[
        'a',
        'B1',
        '/',
        '//',
        '.',
        '..',
        '...',
        '%2e',
        '%2E',
        '%2f',
        '%5C',
        '%3b',
        '%00',
        '%0d%0a',
      ],
      ...[
        '\\',
        ';',
        '?',
        '#',
        '[',
        ']',
        '{',
        '}',
        '"',
        '|',
        '^',
        '`',
        '<',
        '>',
        '%',
        '%zz',
        '%c3%be',
      ],
      ...[
        '@',
        ':',
        '&',
        '=',
        '+',
        ' ',
        '\t',
        '\x7f',
        '\u00e9',
        'http://evil.test',
        'evil.test:80',
        '*',
      ],
    ),
    fc.string({ maxLength: 3 }),
  )
  const tail = fc.array(piece, { maxLength: 10 }).map((pieces) => pieces.join(''))

  it('of a client: the upstream is sent the same bytes, or nothing', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('/left/', '/whole/', '/', ''), tail, async (base, rest) => {
        // A line break ends the line, as a blank does the target.
        fc.pre(!/[\r\n]/.test(rest) && !rest.includes(' HTTP/'))
        const target = base + rest
        const { status, targets } = await get(target)
        const isRefused = status >= 400 && status < 500
        expect(targets).toEqual(isRefused ? [] : [forwardedOf(base, target)])
        for (const each of targets) expectStays(each, /^\/(left|whole)\//)
      }),
      { numRuns: 400 },
    )
  })

  it('as data of the whole path and query: it is a target on that origin, or refused', async () => {
    await fc.assert(
      fc.asyncProperty(tail, tail, async (rest, q) => {
        const { status, targets } = await post({ p: `/x/${rest}`, q })
        expect([status, targets.length]).toEqual(status === 400 ? [400, 0] : [200, 1])
        for (const each of targets) expectStays(each, /^\/x\//)
      }),
      { numRuns: 400 },
    )
  })
})

/** Of an absolute target without its origin, and without blanks around it; a client's `#` is a byte like others. */
const forwardedOf = (base: string, sent: string): string => {
  const target = sent.replace(/^ +| +$/g, '')
  const inOrigin = base === '' ? target.replace(/^[a-z]+:\/\/[^/?]*/i, '') : target
  const whole = base === '/whole/' && inOrigin.endsWith('?') ? inOrigin.slice(0, -1) : inOrigin
  return whole.replaceAll('#', '%23')
}

/** A server that decodes first, takes a backslash for a slash, or leaves out parameters, finds nothing else. */
const expectStays = (target: string, below: RegExp): void => {
  expect(target).toMatch(/^\/[\x21\x22\x24-\x7e]*$/)
  const [path = ''] = target.split('?')
  const decoded = path.replace(/%(2e|2f|5c|3b|00)/gi, (escape) => decodeURIComponent(escape))
  for (const reading of [
    path,
    decoded,
    decoded.replaceAll('\\', '/'),
    decoded.replace(/[;\0][^/\\]*/g, ''),
  ]) {
    const resolved = new URL(`http://upstream.test${reading}`)
    expect(resolved.host).toBe('upstream.test')
    expect(resolved.pathname).toMatch(below)
    expect(resolved.pathname.split('/')).toHaveLength(reading.split(/[/\\]/).length)
  }
}
