import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { readFileSync } from 'node:fs'
import type { OidcResponse } from '../../../dataplane/oidc/oidc-endpoint.ts'
import { FakeProvider, newPair } from './fake-provider.ts'
import {
  Browser,
  headerOf,
  openRoom,
  providerRecord,
  realmRecord,
  REALM,
  setCookies,
  type TestRoom,
} from './room.ts'

interface Case {
  readonly id: string
  readonly request: string
  readonly status: number
  readonly error?: string | readonly string[]
}

const { cases } = JSON.parse(
  readFileSync(new URL('./cases/states.json', import.meta.url), 'utf8'),
) as { readonly cases: readonly Case[] }

const OTHER_REALM = 'com.example.other'

let op: FakeProvider

beforeAll(async () => {
  op = await FakeProvider.open(newPair('k1'))
})

afterAll(() => op.close())

const openBoth = (): TestRoom => {
  const endpointDeps = openRoom()
  const record = providerRecord(op.issuer)
  endpointDeps.realms.set(
    REALM,
    realmRecord(REALM, { corp: record, second: { ...record, scopes: [] } }),
  )
  endpointDeps.realms.set(OTHER_REALM, realmRecord(OTHER_REALM, { corp: record }))
  return endpointDeps
}

interface Begun {
  readonly endpointDeps: TestRoom
  readonly browser: Browser
  readonly query: URLSearchParams
}

const begin = async (endpointDeps = openBoth(), browser = new Browser()): Promise<Begun> => {
  const login = await browser.login(endpointDeps)
  return { endpointDeps, browser, query: op.authorize(headerOf(login, 'location') ?? '') }
}

const changed = ({ query }: Begun, change: Record<string, string | undefined>): URLSearchParams => {
  const next = new URLSearchParams(query)
  for (const [name, value] of Object.entries(change)) {
    if (value === undefined) next.delete(name)
    else next.set(name, value)
  }
  return next
}

const withState = (begun: Begun, state: string): Promise<OidcResponse> =>
  begun.browser.callback(begun.endpointDeps, changed(begun, { state }))

const flipped = (begun: Begun, part: number): Promise<OidcResponse> => {
  const parts = (begun.query.get('state') ?? '').split('.')
  const text = parts[part] ?? ''
  // In the middle: the last character of a part may have bits that are not read.
  const at = Math.floor(text.length / 2)
  parts[part] = `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`
  return withState(begun, parts.join('.'))
}

const send = (begun: Begun, query: URLSearchParams | string): Promise<OidcResponse> =>
  begun.browser.callback(begun.endpointDeps, query)

const at = (begun: Begun, pathProvider: string): Promise<OidcResponse> =>
  begun.browser.callback(begun.endpointDeps, begun.query, { pathProvider })

const withoutMetadata = (begun: Begun, cookie?: string): Promise<OidcResponse> =>
  begun.browser.callback(begun.endpointDeps, begun.query, {
    headers: cookie === undefined ? {} : { cookie },
  })

const wrongCookie = ({ browser }: Begun): string =>
  [...browser.jar.keys()].map((name) => `${name}=AAAAAAAAAAAAAAAAAAAAAA`).join('; ')

const ACTS: Readonly<Record<string, (begun: Begun) => Promise<OidcResponse>>> = {
  'no-code': (begun) => send(begun, changed(begun, { code: undefined })),
  'no-state': (begun) => send(begun, changed(begun, { state: undefined })),
  neither: (begun) => send(begun, ''),
  'empty-code': (begun) => send(begun, changed(begun, { code: '' })),
  'empty-state': (begun) => withState(begun, ''),
  'idp-said-no': (begun) =>
    send(begun, changed(begun, { code: undefined, error: 'access_denied' })),
  'code-twice': (begun) => send(begun, `${begun.query.toString()}&code=another`),
  'state-twice': (begun) => send(begun, `${begun.query.toString()}&state=another`),
  nonsense: (begun) => withState(begun, 'nonsense'),
  'five-parts': (begun) => withState(begun, 'a.b.c.d.e'),
  'flip-header': (begun) => flipped(begun, 0),
  'flip-iv': (begun) => flipped(begun, 2),
  'flip-ciphertext': (begun) => flipped(begun, 3),
  'flip-tag': (begun) => flipped(begun, 4),
  truncated: (begun) => withState(begun, (begun.query.get('state') ?? '').slice(0, -10)),
  jws: async (begun) => withState(begun, await op.sign({ realm: REALM })),
  'alg-none': (begun) =>
    withState(begun, `${Buffer.from('{"alg":"none"}').toString('base64url')}.e30.`),
  'ticket-as-state': async (begun) => {
    await begun.browser.callback(begun.endpointDeps, begun.query)
    return withState(await begin(begun.endpointDeps, begun.browser), begun.browser.ticket())
  },
  huge: (begun) => withState(begun, 'a'.repeat(12_000)),
  'other-realm': (begun) =>
    begun.browser.callback(begun.endpointDeps, begun.query, { realmUri: OTHER_REALM }),
  'other-provider': (begun) => at(begun, 'second'),
  'unknown-provider': (begun) => at(begun, 'nobody'),
  'prototype-provider': (begun) => at(begun, '__proto__'),
  'constructor-provider': (begun) => at(begun, 'constructor'),
  'other-browser': ({ endpointDeps, query }) => new Browser().callback(endpointDeps, query),
  'wrong-cookie': (begun) =>
    begun.browser.callback(begun.endpointDeps, begun.query, {
      headers: { 'sec-fetch-site': 'cross-site', cookie: wrongCookie(begun) },
    }),
  'wrong-cookie-no-metadata': (begun) => withoutMetadata(begun, wrongCookie(begun)),
  'no-browser': (begun) => withoutMetadata(begun),
  'two-tabs': async (first) => {
    const second = await begin(first.endpointDeps, first.browser)
    const response = await second.browser.callback(second.endpointDeps, second.query)
    expect(response.status).toBe(302)
    return first.browser.callback(first.endpointDeps, first.query)
  },
  replay: async (begun) => {
    await begun.browser.callback(begun.endpointDeps, begun.query)
    return begun.browser.callback(begun.endpointDeps, begun.query)
  },
  expired: (begun) => {
    begun.endpointDeps.clock.advance(630_000)
    return begun.browser.callback(begun.endpointDeps, begun.query)
  },
}

const bodies = ({ error }: Case): readonly string[] =>
  error === undefined ? [''] : [error].flat().map((each) => JSON.stringify({ error: each }))

describe('what somebody does to a callback', () => {
  it.each(cases)('$id: $request', async (row) => {
    const act = ACTS[row.id] ?? (() => Promise.reject(new Error('not acted out')))
    const begun = await begin()
    const response = await act(begun)

    expect(response.status).toBe(row.status)
    expect(bodies(row)).toContain(response.body)
    // Exactly the two cookies of a success, and none else.
    expect(setCookies(response)).toHaveLength(row.status === 302 ? 2 : 0)
  })
})

describe('a state', () => {
  it('is good until 600 s and the tolerance are over', async () => {
    const begun = await begin()
    begun.endpointDeps.clock.advance(629_999)
    // The ID token is then from the past: the state was accepted.
    const response = await begun.browser.callback(begun.endpointDeps, begun.query)

    expect(response.status).toBe(302)
  })

  it('says nothing to who reads it, and only characters that every provider gives back', async () => {
    const { query } = await begin()
    const state = query.get('state') ?? ''
    const header: unknown = JSON.parse(
      Buffer.from(state.split('.')[0] ?? '', 'base64url').toString(),
    )

    expect(state).toMatch(/^[A-Za-z0-9_.-]{100,1000}$/)
    expect(header).toEqual({
      alg: 'dir',
      enc: 'A256GCM',
      kid: expect.any(String),
      typ: 'svc-state+jwt',
    })
  })

  it('is spent only once the provider can be called', async () => {
    const begun = await begin()
    const record = providerRecord('http://127.0.0.1:1')
    begun.endpointDeps.realms.set(REALM, realmRecord(REALM, { corp: record }))
    const first = await begun.browser.callback(begun.endpointDeps, begun.query)
    begun.endpointDeps.realms.set(REALM, realmRecord(REALM, { corp: providerRecord(op.issuer) }))
    const second = await begun.browser.callback(begun.endpointDeps, begun.query)

    expect([first.status, second.status]).toEqual([503, 302])
  })

  it('ignores unknown parameters, and a JARM response', async () => {
    const begun = await begin()
    const query = `${begun.query.toString()}&session_state=x&id_token=y&response=z&__proto__=1`

    expect(await begun.browser.callback(begun.endpointDeps, query)).toMatchObject({ status: 302 })
  })

  it('does not count where an error stands beside the code', async () => {
    const begun = await begin()
    const query = changed(begun, { error: 'server_error' })

    expect(await begun.browser.callback(begun.endpointDeps, query)).toMatchObject({
      status: 400,
      body: '{"error":"token_exchange_failed"}',
    })
  })
})

describe('RFC 9700', () => {
  it('§4.5: a code that was stolen from another login is of no use', async () => {
    const victim = await begin()
    const thief = await begin(victim.endpointDeps)
    const code = victim.query.get('code') ?? ''
    const response = await send(thief, changed(thief, { code }))

    expect(response).toMatchObject({ status: 400, body: '{"error":"token_exchange_failed"}' })
  })

  it('§4.7: a state and a code that belong together are of no use in another browser', async () => {
    const attacker = await begin()
    const victim = await begin(attacker.endpointDeps)
    const response = await victim.browser.callback(attacker.endpointDeps, attacker.query)

    expect(response).toMatchObject({ status: 400, body: '{"error":"invalid_state"}' })
    expect(victim.browser.ticket()).toBe('')
  })

  it('§4.4: the response of another issuer is not taken to our token endpoint', async () => {
    const begun = await begin()
    const before = op.count('/token')
    const response = await send(begun, changed(begun, { iss: 'https://evil.example' }))

    expect([response.status, op.count('/token') - before]).toEqual([400, 0])
  })

  it('§4.4: an iss that is given twice is not half used', async () => {
    const begun = await begin()

    expect(await send(begun, `${begun.query.toString()}&iss=x`)).toMatchObject({ status: 400 })
  })

  it('asks no provider before a callback is sure to be of a login of ours', async () => {
    const begun = await begin()
    const before = op.asked.length
    for (const id of ['nonsense', 'flip-tag', 'other-realm', 'other-browser', 'wrong-cookie'])
      await ACTS[id]?.(begun)

    expect(op.asked.length).toBe(before)
  })

  it('gives a new session each time: nothing that stood in the browser before is kept', async () => {
    const first = await begin()
    await send(first, first.query)
    const before = [...first.browser.jar].filter(([name]) => name.startsWith('svc_'))
    const second = await begin(first.endpointDeps, first.browser)
    await send(second, second.query)
    const after = [...first.browser.jar].filter(([name]) => name.startsWith('svc_'))

    expect(after.map(([name]) => name)).toEqual(before.map(([name]) => name))
    for (const [index, [, value]] of after.entries()) expect(value).not.toBe(before[index]?.[1])
  })

  it('lets all tabs log in that have waited at the login, in any order', async () => {
    const first = await begin()
    const tabs = [first]
    while (tabs.length < 10) tabs.push(await begin(first.endpointDeps, first.browser))
    const statuses: number[] = []
    for (const tab of tabs.toReversed()) statuses.push((await send(tab, tab.query)).status)

    expect(statuses).toEqual(Array.from({ length: 10 }, () => 302))
  })
})
