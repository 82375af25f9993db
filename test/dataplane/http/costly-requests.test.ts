// Requests that take long wait for their turn, those that take little never do.

import { afterEach, describe, expect, it } from '@jest/globals'
import type { Turns } from '../../../dataplane/turns.ts'
import { eventually } from '../../support/eventually.ts'
import { type ServedGateway, serveGateway } from './served-gateway.ts'

let gateway: ServedGateway | undefined

afterEach(async () => {
  await gateway?.[Symbol.asyncDispose]()
  gateway = undefined
})

/** Turns that a test gives. */
const createTurnsByHand = () => {
  const waiting: { readonly document: string; readonly work: () => boolean }[] = []
  const turns: Turns = { run: (document, work) => void waiting.push({ document, work }) }
  const giveOne = async (): Promise<string> => {
    await eventually(() => {
      expect(waiting).not.toEqual([])
    })
    const [next] = waiting.splice(0, 1)
    if (next?.work() === true) waiting.unshift(next)
    return next?.document ?? ''
  }
  return { turns, waiting, giveOne }
}

const CONSTANT = Object.fromEntries(Array.from({ length: 3000 }, (_, at) => [`k${at}`, at]))

const document = (id: string, forward: object = {}) => ({
  id,
  host: 'a.test',
  realm_uri: 'com.acme',
  versions: {
    v1: {
      base_path: `/${id}`,
      variables: { large: CONSTANT },
      paths: {
        '/read': {
          post: { action: { type: 'static', body: '{{request.body |> get(a)}}' }, response: {} },
        },
        '/unread': { post: { action: { type: 'static', body: 'unread' }, response: {} } },
        '/failing': {
          post: { action: { type: 'static', body: '{{request.body |> get(no)}}' }, response: {} },
        },
        '/costly': {
          post: {
            action: {
              type: 'static',
              body: `{{variables.large |> put(a, {{request.body |> get(n)}})${' |> put(b, c)'.repeat(7)} |> size}}`,
            },
            response: {},
          },
        },
        '/passing': {
          post: {
            action: {
              type: 'forward',
              host: 'http://x.test',
              headers: { 'x-a': '{{request.body |> get(a)}}' },
            },
            response: {},
          },
        },
        '/forward': {
          post: {
            action: { type: 'forward', host: 'http://x.test', ...forward },
            response: { on_result: { body: '{{action.result.body}} {{request.body |> get(a)}}' } },
          },
        },
      },
    },
  },
})

const LARGE = { a: 'read', filling: 'x'.repeat(70_000) }
const SMALL = { a: 'read' }
/** Three pieces. */
const MANY_VALUES = { list: Array.from({ length: 40_000 }, () => 1), a: 'read' }

const RESET = {
  error_uri: 'svc.error.bad_gateway',
  args: [],
  kwargs: {},
  details: {},
  status_code: 504,
  headers: {},
  body: '',
  message: 'the upstream closed the connection',
}

const serve = async (...args: Parameters<typeof serveGateway>) => {
  gateway = await serveGateway(...args)
  await gateway.load(document('one'), document('two'))
  return gateway
}

describe('a request that takes long', () => {
  it('is decoded in one turn of its document, and performed in another', async () => {
    const { turns, giveOne, waiting } = createTurnsByHand()
    const served = await serve({ turns })
    const response = served.ask('POST', '/one/read', { json: LARGE })
    expect(await giveOne()).toBe('one')
    expect([served.statuses.length, waiting.length]).toEqual([0, 1])
    expect(await giveOne()).toBe('one')
    expect((await response).text).toBe('"read"')
    expect(waiting).toEqual([])
  })

  it('is decoded in several turns where its JSON has many values', async () => {
    const { turns, giveOne, waiting } = createTurnsByHand()
    const served = await serve({ turns })
    const response = served.ask('POST', '/one/read', { json: MANY_VALUES })
    for (let turn = 0; turn < 4; turn++) {
      expect(await giveOne()).toBe('one')
      expect(waiting).toHaveLength(turn < 3 ? 1 : 0)
    }
    expect((await response).text).toBe('"read"')
  })

  it.each([
    ['a small body', '/one/read', SMALL, 200],
    ['a large one that nothing reads', '/one/unread', LARGE, 200],
  ])('is not one with %s', async (_, path, json, status) => {
    const { turns, waiting } = createTurnsByHand()
    const served = await serve({ turns })
    expect((await served.ask('POST', path, { json })).status).toBe(status)
    expect(waiting).toEqual([])
  })

  it('fails in its turn like any other', async () => {
    const { turns, giveOne } = createTurnsByHand()
    const served = await serve({ turns })
    const small = await served.ask('POST', '/one/failing', { json: SMALL })
    const large = served.ask('POST', '/one/failing', { json: LARGE })
    await giveOne()
    await giveOne()
    expect((await large).status).toBe(small.status)
    expect((await large).text.replace('"id-2"', '"id-1"')).toBe(small.text)
    const noJson = served.ask('POST', '/one/read', {
      headers: { 'content-type': 'application/json' },
      body: `{${' '.repeat(70_000)}`,
    })
    await giveOne()
    expect((await noJson).status).toBe(400)
  })

  it('renders what its action gives in a turn, too, and only the first result', async () => {
    const { turns, giveOne, waiting } = createTurnsByHand()
    const served = await serve({
      turns,
      forward: (exchange) => {
        setImmediate(() => {
          exchange.succeed({ body: 'done' })
          exchange.refuse(new Error('late'))
          exchange.succeed({ body: 'again' })
        })
      },
    })
    const response = served.ask('POST', '/one/forward', { json: LARGE })
    for (let turn = 0; turn < 3; turn++) await giveOne()
    expect((await response).text).toBe('"done read"')
    expect(waiting).toEqual([])
  })

  it('fails in a turn where its response has come, but nothing of it went out', async () => {
    const { turns, giveOne, waiting } = createTurnsByHand()
    const served = await serve({
      turns,
      forward: (exchange) => {
        setImmediate(() => {
          exchange.stream({ statusCode: 200, headers: [], hasBody: true })
          exchange.fail(RESET)
        })
      },
    })
    const response = served.ask('POST', '/one/passing', { json: LARGE })
    for (let turn = 0; turn < 2; turn++) await giveOne()
    await eventually(() => {
      expect(waiting).toHaveLength(1)
    })
    // The head of the response would go out now.
    await new Promise(setImmediate)
    await giveOne()
    expect((await response).status).toBe(504)
    expect(served.statuses).toEqual([504])
  })

  it.each([
    ['before its body is decoded', LARGE, 0],
    ['before it is performed', LARGE, 1],
    ['while its body is decoded', MANY_VALUES, 2],
  ])('is dropped where its client has left: %s', async (_, body, turnsBefore) => {
    const { turns, giveOne, waiting } = createTurnsByHand()
    const served = await serve({ turns })
    const json = JSON.stringify(body)
    const client = await served.raw(
      `POST /one/read HTTP/1.1\r\nHost: a.test\r\nContent-Type: application/json\r\nContent-Length: ${json.length}\r\n\r\n${json}`,
    )
    for (let turn = 0; turn < turnsBefore; turn++) await giveOne()
    await eventually(() => {
      expect(waiting).toHaveLength(1)
    })
    client.close()
    await eventually(() => {
      expect([served.statuses, served.inFlight.count]).toEqual([[499], 0])
    })
    await giveOne()
    expect([served.statuses, waiting]).toEqual([[499], []])
  })

  it('makes the next requests of its operation wait, however small, until they are cheap', async () => {
    const { turns, giveOne, waiting } = createTurnsByHand()
    const served = await serve({ turns })
    expect((await served.ask('POST', '/one/costly', { json: { n: 1 } })).text).toBe('3002')
    const next = served.ask('POST', '/one/costly', { json: { n: 1 } })
    expect(await giveOne()).toBe('one')
    expect((await next).text).toBe('3002')
    // Those of others do not.
    expect((await served.ask('POST', '/two/read', { json: SMALL })).status).toBe(200)
    expect((await served.ask('POST', '/one/read', { json: SMALL })).status).toBe(200)
    for (let cheap = 0; cheap < 100; cheap++) {
      const failing = served.ask('POST', '/one/costly', { json: {} })
      await giveOne()
      expect((await failing).status).toBeGreaterThanOrEqual(400)
    }
    expect((await served.ask('POST', '/one/costly', { json: {} })).status).toBeGreaterThanOrEqual(
      400,
    )
    expect(waiting).toEqual([])
  })
})
