// Outcomes that come late, twice, or when the client has gone: one response, one settlement, whatever comes first.

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { once } from 'node:events'
import { connect } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { ByteSink, Exchange, Perform } from '../../../dataplane/actions/performer.ts'
import { GatewayError } from '../../../dataplane/gateway-error.ts'
import { ExpressionError } from '../../../language/expression/errors.ts'
import { MemoryBudget } from '../../../dataplane/memory/memory-budget.ts'
import { eventually } from '../../support/eventually.ts'
import { roundTrip } from '../round-trip.ts'
import { openRequest } from '../../support/http-request.ts'
import { headerValues } from '../../support/raw-client.ts'
import { apiOf, serveGateway, type ServedGateway } from './served-gateway.ts'

const GET = 'GET /x HTTP/1.1\r\nHost: a\r\n\r\n'

let gateway: ServedGateway
let perform: Perform
let exchanges: Exchange[]
let memory: MemoryBudget

const forward = (response: object = {}, more: object = {}) => ({
  '/x': { get: { action: { type: 'forward', host: 'a' }, response }, ...more },
})

beforeEach(async () => {
  exchanges = []
  perform = () => undefined
  memory = new MemoryBudget({ size: 2 ** 30 })
  gateway = await serveGateway({
    memory,
    forward: (exchange) => {
      exchanges.push(exchange)
      perform(exchange)
    },
  })
})

afterEach(async () => {
  await gateway[Symbol.asyncDispose]()
})

const FAILURE = {
  error_uri: 'svc.error.timeout',
  args: [],
  kwargs: {},
  details: {},
  status_code: 504,
  headers: {},
  body: '',
  message: 'too slow',
}

const sinkOf = (
  exchange: Exchange,
  headers: readonly (readonly [string, string])[] = [],
  statusCode = 200,
): ByteSink => {
  const sink = exchange.stream({ statusCode, headers, hasBody: true })
  if (sink === undefined) throw new Error('there is no sink')
  return sink
}

describe('whichever outcome comes first', () => {
  const outcomes: Readonly<Record<string, (exchange: Exchange) => unknown>> = {
    succeed: (exchange) => {
      exchange.succeed({ status_code: 203, body: 'a' })
    },
    fail: (exchange) => {
      exchange.fail(FAILURE)
    },
    refuse: (exchange) => {
      exchange.refuse(new GatewayError('svc.error.payload_too_large', 'too large'))
    },
    stream: (exchange) => exchange.stream({ statusCode: 206, headers: [], hasBody: true })?.end(),
  }
  const names = Object.keys(outcomes)
  const statuses: Readonly<Record<string, number>> = {
    succeed: 203,
    fail: 504,
    refuse: 413,
    stream: 206,
  }

  it.each(names)('%s answers; nothing after it does', async (first) => {
    perform = (exchange) => {
      for (const name of [first, ...names]) outcomes[name]?.(exchange)
    }
    await gateway.load(apiOf(forward()))
    await using client = await gateway.raw(GET, GET)
    for (let turn = 0; turn < 2; turn++)
      expect((await client.response()).status).toBe(statuses[first])
    expect(gateway.statuses).toEqual([statuses[first], statuses[first]])
    expect(gateway.inFlight.count).toBe(0)
    expect(exchanges[0]?.stream({ statusCode: 200, headers: [], hasBody: true })).toBeUndefined()
  })

  it('also when it comes later', async () => {
    perform = (exchange) => {
      setImmediate(() => {
        exchange.succeed({ status_code: 200, body: 'late' })
      })
    }
    await gateway.load(apiOf(forward()))
    expect((await gateway.ask('GET', '/x')).json()).toBe('late')
  })
})

describe('what fails on the way', () => {
  it.each<[string, Error, number, number]>([
    ['an expression', new ExpressionError('{{x}}: no'), 500, 0],
    ['a refusal', new GatewayError('svc.error.forbidden', 'no'), 403, 0],
    ['its own status', new GatewayError('svc.error.invalid_data', 'no', { status: 422 }), 422, 0],
    ['a fault of the program', new TypeError('hunter2'), 500, 1],
  ])('%s, at once and later', async (_, error, status, unexpected) => {
    await gateway.load(apiOf(forward()))
    perform = () => {
      throw error
    }
    const thrown = await gateway.ask('GET', '/x')
    perform = (exchange) => {
      setImmediate(() => {
        exchange.refuse(error)
      })
    }
    const refused = await gateway.ask('GET', '/x')
    expect([thrown.status, refused.status]).toEqual([status, status])
    expect(refused.text).not.toContain('hunter2')
    expect(gateway.unexpected).toHaveLength(2 * unexpected)
  })

  it('a throw of something that is no error', async () => {
    await gateway.load(apiOf(forward()))
    perform = () => {
      // eslint has a point, libraries do it all the same.
      const thrown: unknown = 'text'
      throw thrown as Error
    }
    expect((await gateway.ask('GET', '/x')).status).toBe(500)
  })

  it.each([
    ['on_result', { on_result: { body: '{{action.result.nope}}' } }],
    ['on_error', { on_error: { body: '{{action.error.nope}}' } }],
  ])('%s that reads what is not there', async (side, response) => {
    await gateway.load(apiOf(forward(response)))
    perform = (exchange) => {
      if (side === 'on_error') exchange.fail(FAILURE)
      else exchange.succeed({ status_code: 200, body: 'a' })
    }
    const received = await gateway.ask('GET', '/x')
    expect(received.json()).toMatchObject({ code: 'svc.error.http_gateway.invalid_expression' })
    expect(gateway.refused).toEqual(['svc.error.http_gateway.invalid_expression'])
  })

  it.each([
    ['beyond ASCII', 'Basic realm="Zoë"'],
    ['beyond Latin-1', 'Basic realm="日本"'],
    ['whose low bytes end a line', 'Basic realm="\u010d\u010aset-cookie: svc_ticket_a=b"'],
  ])(
    'an upstream that wants a login, in characters %s, which come as they were',
    async (...row) => {
      const [, challenge] = row
      await gateway.load(apiOf(forward({ on_error: { body: 'no' } })))
      perform = (exchange) => {
        exchange.fail({
          ...FAILURE,
          error_uri: 'svc.error.upstream.401',
          status_code: 401,
          headers: { 'www-authenticate': challenge },
        })
      }
      await using client = await gateway.raw(GET)
      const response = await client.response()
      const written = headerValues(response, 'www-authenticate').map((value) =>
        Buffer.from(value, 'latin1').toString(),
      )
      expect([response.status, written]).toEqual([401, [challenge]])
      expect(headerValues(response, 'set-cookie')).toEqual([])
    },
  )

  it('headers of a refusal win over those of the operation', async () => {
    await gateway.load(
      apiOf(forward(), {
        defaults: { headers: { 'retry-after': '9', 'content-type': 'text/html' } },
      }),
    )
    perform = (exchange) => {
      exchange.refuse(
        new GatewayError('svc.error.too_many_requests', 'no', { headers: { 'retry-after': '3' } }),
      )
    }
    const response = await gateway.ask('GET', '/x')
    expect([
      response.status,
      response.headers['retry-after'],
      response.headers['content-type'],
    ]).toEqual([429, '3', 'application/json'])
  })
})

describe('a result that a document reads', () => {
  it.each([
    [
      'for a header, without a body of its own',
      { on_result: { headers: { x: '{{action.result.body.a}}' } } },
      '{"a":1}',
    ],
    ['for its body', { on_result: { body: { got: '{{action.result.body.a}}' } } }, '{"got":1}'],
  ])('%s', async (_, response, text) => {
    await gateway.load(apiOf(forward(response)))
    perform = (exchange) => {
      exchange.succeed({ status_code: 202, headers: {}, body: { a: 1 }, uri: '' })
    }
    const received = await gateway.ask('GET', '/x')
    expect([received.status, received.text]).toEqual([202, text])
  })

  it('a status that is no number is not taken', async () => {
    await gateway.load(apiOf(forward({ on_result: { body: '{{action.result.body}}!' } })))
    perform = (exchange) => {
      exchange.succeed({ status_code: '299', body: 'a' })
    }
    expect((await gateway.ask('GET', '/x')).status).toBe(200)
  })
})

describe('a body that passes through', () => {
  const headers = [
    ['content-type', 'text/plain'],
    ['content-length', '6'],
    ['set-cookie', 'a=1'],
    ['set-cookie', 'b=2'],
    ['x-up', 'up'],
    ['x-request-id', 'theirs'],
    ['deprecation', 'theirs'],
    ['location', '/theirs'],
  ] as const

  const pass =
    (chunks: readonly string[], statusCode = 200): Perform =>
    (exchange) => {
      const sink = sinkOf(exchange, headers, statusCode)
      for (const chunk of chunks) sink.write(Buffer.from(chunk))
      sink.end()
    }

  const passed = async (
    response: object,
    api: Parameters<typeof apiOf>[1] = {},
    more: object = {},
  ) => {
    await gateway.load(apiOf(forward(response, more), api))
    await using client = await gateway.raw(GET)
    const received = await client.response()
    return received
  }

  it.each([
    ['in one piece', ['abcdef']],
    ['in pieces', ['abc', '', 'def']],
  ])('%s', async (_, chunks) => {
    perform = pass(chunks)
    const response = await passed({}, { version: { is_deprecated: true } })
    expect([response.status, response.body.toString()]).toEqual([200, 'abcdef'])
    expect(headerValues(response, 'set-cookie')).toEqual(['a=1', 'b=2'])
    for (const [name, value] of [
      ['x-up', 'up'],
      ['x-request-id', 'id-1'],
      ['deprecation', 'theirs'],
      ['content-length', '6'],
    ] as const)
      expect(headerValues(response, name)).toEqual([value])
    expect(gateway.log).toMatchObject([{ status: 200, bytes: 6 }])
  })

  it('headers of the path lie over those of the upstream, by name', async () => {
    perform = pass(['abcdef'])
    const response = await passed(
      {},
      { defaults: { headers: { 'X-Up': 'ours', 'set-cookie': 'c=3', 'x-id': '{{request.id}}' } } },
    )
    expect(headerValues(response, 'x-up')).toEqual(['ours'])
    expect(headerValues(response, 'set-cookie')).toEqual(['c=3'])
    expect(headerValues(response, 'x-id')).toEqual(['id-1'])
    expect(headerValues(response, 'location')).toEqual(['/theirs'])
  })

  it.each([
    {},
    {
      'x-own':
        '{{action.result.headers.x-up}} {{action.result.headers.set-cookie |> length}} {{action.result.uri}} {{action.result.status_code}}',
    },
  ])('headers of on_result stand alone, with the framing: %j', async (own) => {
    perform = pass(['abcdef'], 203)
    const response = await passed({ on_result: { headers: own } })
    expect([response.status, response.body.toString()]).toEqual([203, 'abcdef'])
    expect(headerValues(response, 'content-type')).toEqual(['text/plain'])
    expect(headerValues(response, 'content-length')).toEqual(['6'])
    expect(headerValues(response, 'x-up')).toEqual([])
    expect(headerValues(response, 'x-own')).toEqual(
      Object.values(own).map(() => 'up 2 /theirs 203'),
    )
  })

  it('a status of its own; one without a body has nothing that describes it', async () => {
    perform = pass(['abcdef'])
    const response = await passed({ on_result: { status_code: 204 } })
    expect(response.status).toBe(204)
    for (const name of ['content-length', 'content-type'])
      expect(headerValues(response, name)).toEqual([])
    await using client = await gateway.raw(GET, GET)
    for (let turn = 0; turn < 2; turn++) expect((await client.response()).status).toBe(204)
  })

  it('a uri of its own, for POST', async () => {
    perform = pass(['abcdef'], 201)
    await gateway.load(
      apiOf(
        forward(
          {},
          {
            post: {
              action: { type: 'forward', host: 'a' },
              response: { on_result: { uri: '/ä', headers: {} } },
            },
          },
        ),
      ),
    )
    const response = await gateway.ask('POST', '/x')
    expect([response.status, response.headers.location]).toEqual([201, '/%C3%A4'])
  })

  it('headers that fail: 500, and the upstream is stopped', async () => {
    perform = (exchange) => {
      expect(exchange.stream({ statusCode: 200, headers, hasBody: true })).toBeUndefined()
    }
    const response = await passed({
      on_result: { headers: { x: '{{action.result.headers.nope}}' } },
    })
    expect(response.status).toBe(500)
    expect(gateway.statuses).toEqual([500])
  })

  it('headers that node refuses: 500, and the upstream is stopped', async () => {
    let cancelled = 0
    perform = (exchange) => {
      exchange.onCancel(() => cancelled++)
      const sink = sinkOf(exchange, [['x', 'a\u0001']])
      sink.write(Buffer.from('abc'))
      sink.end()
    }
    expect((await passed({})).status).toBe(500)
    expect(gateway.unexpected.map(String)).toEqual([expect.stringContaining('ERR_INVALID_CHAR')])
    expect([cancelled, gateway.statuses]).toEqual([1, [500]])
  })

  it.each<[string, (exchange: Exchange) => void, number, string]>([
    [
      'the action fails',
      (exchange) => {
        exchange.fail(FAILURE)
      },
      504,
      'svc.error.timeout',
    ],
    [
      'the request is rejected',
      (exchange) => {
        exchange.refuse(new GatewayError('svc.error.payload_too_large', 'no'))
      },
      413,
      'svc.error.payload_too_large',
    ],
  ])(
    '%s half-way: the connection is cut, and that is what is counted',
    async (_, fail, status, code) => {
      perform = (exchange) => {
        const sink = sinkOf(exchange, headers)
        sink.write(Buffer.from('abc'))
        fail(exchange)
        sink.write(Buffer.from('def'))
        sink.end()
        exchange.fail({ ...FAILURE, status_code: 599 })
      }
      await gateway.load(apiOf(forward({ on_error: { status_code: 200, body: 'fine' } })))
      await expect(gateway.ask('GET', '/x')).rejects.toThrow('aborted')
      expect(gateway.statuses).toEqual([status])
      expect(gateway.log).toMatchObject([{ status, code, bytes: 3 }])
      expect(
        gateway.decisions.find('id-1').map((text) => JSON.parse(text) as unknown),
      ).toMatchObject([{ status, code }])
    },
  )

  it('the client is to blame half-way: the connection is cut', async () => {
    perform = (exchange) => {
      const sink = sinkOf(exchange, headers)
      sink.write(Buffer.from('abc'))
      sink.destroy(new Error('too slow'))
      sink.destroy(new Error('again'))
    }
    await gateway.load(apiOf(forward()))
    await expect(gateway.ask('GET', '/x')).rejects.toThrow('aborted')
    expect(gateway.log).toMatchObject([{ status: 200, bytes: 3 }])
  })

  it.each<[string, (exchange: Exchange) => void, number]>([
    [
      'the action fails',
      (exchange) => {
        exchange.fail(FAILURE)
      },
      504,
    ],
    [
      'the request is rejected',
      (exchange) => {
        exchange.refuse(new GatewayError('svc.error.payload_too_large', 'no'))
      },
      413,
    ],
  ])('%s before anything was sent: that is the response', async (_, fail, status) => {
    perform = (exchange) => {
      const sink = sinkOf(exchange, headers)
      fail(exchange)
      sink.write(Buffer.from('abcdef'))
      sink.end()
      sink.destroy(new Error('over'))
    }
    await gateway.load(apiOf(forward()))
    await using client = await gateway.raw(GET, GET)
    for (let turn = 0; turn < 2; turn++) expect((await client.response()).status).toBe(status)
    expect(gateway.statuses).toEqual([status, status])
    expect(gateway.log).toMatchObject([{ status }, { status }])
  })

  it.each<[string, readonly (readonly [string, string])[]]>([
    ['events', [['content-type', 'text/event-stream']]],
    ['chunks', []],
    ['of known length', [['content-length', '3']]],
  ])('the head goes out before the body comes: %s', async (_, sent) => {
    let sink: ByteSink | undefined
    perform = (exchange) => {
      sink = sinkOf(exchange, sent)
    }
    await gateway.load(apiOf(forward()))
    const incoming = await openRequest(`${gateway.url}/x`)
    sink?.write(Buffer.from('abc'))
    sink?.end()
    expect((await buffer(incoming)).toString()).toBe('abc')
  })

  it('head and small body go out in one piece', async () => {
    perform = pass(['abcdef'])
    await gateway.load(apiOf(forward()))
    const socket = connect(gateway.address)
    const pieces: string[] = []
    socket.on('data', (piece) => pieces.push(piece.toString()))
    socket.write('GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    await once(socket, 'close')
    expect(pieces).toEqual([expect.stringMatching(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\nabcdef$/)])
  })

  it('a slow client holds the upstream back', async () => {
    const chunk = Buffer.alloc(256 * 1024)
    let pauses = 0
    let written = 0
    perform = (exchange) => {
      const sink = sinkOf(exchange)
      const pump = (): void => {
        while (written < 100) {
          written++
          if (!sink.write(chunk)) {
            pauses++
            sink.onDrain(pump)
            return
          }
        }
        sink.end()
      }
      pump()
    }
    await gateway.load(apiOf(forward()))
    const incoming = await openRequest(`${gateway.url}/x`)
    await roundTrip()
    expect(written).toBeLessThan(100)
    let length = 0
    incoming.on('data', (data: Buffer) => (length += data.length))
    await once(incoming, 'end')
    expect(length).toBe(100 * chunk.length)
    expect(pauses).toBeGreaterThan(0)
  })
})

describe('a client that goes away', () => {
  it('while an action waits: it is cancelled once, and 499 is counted', async () => {
    let cancelled = 0
    perform = (exchange) => {
      exchange.onCancel(() => cancelled++)
      exchange.onCancel(() => (cancelled += 10))
    }
    await gateway.load(apiOf(forward()))
    const client = await gateway.raw(GET)
    await eventually(() => {
      expect(exchanges).toHaveLength(1)
    })
    client.close()
    await eventually(() => {
      expect(gateway.statuses).toEqual([499])
    })
    expect([cancelled, gateway.inFlight.count]).toEqual([10, 0])
    exchanges[0]?.succeed({ status_code: 200, body: '' })
    exchanges[0]?.fail(FAILURE)
    expect(gateway.statuses).toEqual([499])
  })

  it('while others wait behind it on the same connection: they never start', async () => {
    let cancelled = 0
    perform = (exchange) => {
      exchange.onCancel(() => cancelled++)
    }
    await gateway.load(apiOf(forward()))
    const client = await gateway.raw(GET + GET + GET)
    await eventually(() => {
      expect(exchanges).toHaveLength(1)
    })
    client.close()
    await eventually(() => {
      expect([cancelled, gateway.statuses]).toEqual([1, [499]])
    })
    await roundTrip()
    expect(exchanges).toHaveLength(1)
  })

  it('in the middle of a body that passes through', async () => {
    let cancelled = 0
    perform = (exchange) => {
      exchange.onCancel(() => cancelled++)
      sinkOf(exchange).write(Buffer.from('abc'))
    }
    await gateway.load(apiOf(forward()))
    const incoming = await openRequest(`${gateway.url}/x`)
    incoming.on('error', () => undefined)
    incoming.destroy()
    await eventually(() => {
      expect([cancelled, gateway.statuses, gateway.log[0]?.bytes]).toEqual([1, [200], 3])
    })
  })

  it('while it waits for the body, of which nothing has come', async () => {
    let cancelled = 0
    perform = (exchange) => {
      exchange.onCancel(() => cancelled++)
      sinkOf(exchange)
    }
    await gateway.load(apiOf(forward()))
    const incoming = await openRequest(`${gateway.url}/x`)
    incoming.on('error', () => undefined)
    incoming.destroy()
    await eventually(() => {
      expect([cancelled, gateway.statuses, gateway.inFlight.count]).toEqual([1, [200], 0])
    })
  })

  it('when the client has gone, nothing is written or reported', async () => {
    let cancelled = 0
    perform = (exchange) => {
      exchange.onCancel(() => cancelled++)
      exchange.onCancel(undefined)
      exchange.succeed({ status_code: 200, body: 'a' })
    }
    await gateway.load(apiOf(forward()))
    for (let turn = 0; turn < 3; turn++) await gateway.ask('GET', '/x')
    await eventually(async () => {
      expect(await gateway.connections()).toBe(0)
    })
    expect([cancelled, gateway.statuses]).toEqual([0, [200, 200, 200]])
  })
})

describe('memory of a request that is over', () => {
  const overs: Readonly<Record<string, (exchange: Exchange) => unknown>> = {
    'its client has gone': ({ incoming }) => incoming.socket.destroy(),
    'it is answered': (exchange) => {
      exchange.succeed({ status_code: 200, body: 'a' })
    },
  }
  it.each(Object.keys(overs))('counts nothing that comes too late: %s', async (name) => {
    await gateway.load(apiOf(forward()))
    perform = (exchange) => {
      exchange.onCancel(() => undefined)
      exchange.memory.add(1000)
    }
    const client = await gateway.raw(GET)
    await eventually(() => {
      expect(memory.held).toBe(1000)
    })
    const [exchange] = exchanges
    // As what inflates a response does, and hears nothing of the end.
    const late = exchange?.memory
    if (exchange !== undefined) overs[name]?.(exchange)
    await eventually(() => {
      expect(gateway.inFlight.count).toBe(0)
    })
    expect([late?.reserve(1000), late?.reserveValues(1000), memory.held]).toEqual([false, false, 0])
    client.close()
  })
})

describe('why a request failed', () => {
  const ERROR_RESPONSE = { on_error: { status_code: 200, body: 'all is well' } }

  it.each<[string, object, number, string]>([
    ['of an action', {}, 504, 'svc.error.timeout'],
    ['of one that on_error makes a success', ERROR_RESPONSE, 200, 'svc.error.timeout'],
  ])('%s is reported and in the access log, not in the response', async (_, response, ...rest) => {
    const [status, code] = rest
    await gateway.load(apiOf(forward(response)))
    perform = (exchange) => {
      exchange.explain({ reason: 'dns', upstream: 'http://hidden', detail: 'of hidden' })
      exchange.fail(FAILURE)
    }
    const received = await gateway.ask('GET', '/x')
    expect(received.text).not.toContain('hidden')
    expect(gateway.log).toEqual([
      expect.objectContaining({ status, code, reason: 'dns', upstream: 'http://hidden' }),
    ])
    expect(gateway.failures).toEqual([
      expect.objectContaining({ path: '/x', failure: expect.objectContaining({ reason: 'dns' }) }),
    ])
  })

  it('is the expression that failed', async () => {
    await gateway.load(apiOf(forward({ on_result: { body: '{{action.result.absent}}' } })))
    perform = (exchange) => {
      exchange.succeed({ status_code: 200 })
    }
    await gateway.ask('GET', '/x')
    expect(gateway.failures.map(({ failure }) => failure)).toEqual([
      { reason: 'expression', detail: expect.stringContaining('absent') },
    ])
  })
})
