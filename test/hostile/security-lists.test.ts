// Every pair of security schemes against every combination of credentials, right, wrong, ended, both and none. What is right
// is written down apart from the gateway's code, sentence by sentence of behaviour §6.

import { describe, expect, it } from '@jest/globals'
import { hash } from 'node:crypto'
import type { SecurityAlternative } from '../../language/compile/security.ts'
import type { RealmRecord } from '../../language/realm/record.ts'
import { quickHash } from '../dataplane/security/phc.ts'
import {
  headersOf,
  REALM,
  type SecurityHome,
  securityHome,
  ticketOrder,
} from '../dataplane/security/security-home.ts'

const RECORD: RealmRecord = {
  uri: REALM,
  authmethods: ['oidcrp', 'cookie'],
  users: [{ username: 'alice', password_hash: quickHash('wonderland') }],
  api_keys: [{ key_sha256: hash('sha256', 'right-key'), username: 'alice' }],
}
const ELSEWHERE: RealmRecord = { uri: 'com.example.other', authmethods: ['oidcrp', 'cookie'] }

const ALTERNATIVES = {
  basic: { type: 'basic' },
  api_key: { type: 'api_key', headerName: 'x-api-key' },
  oauth2: {
    type: 'oauth2',
    flow: 'client_credentials',
    tokenPath: '/oauth/token',
    revokeTokenPath: '/oauth/revoke',
  },
  oidc: { type: 'oidc', provider: 'corp' },
  anonymous: { type: 'anonymous' },
} as const satisfies Record<string, SecurityAlternative>

type Name = keyof typeof ALTERNATIVES

const NAMES = Object.keys(ALTERNATIVES) as readonly Name[]

/** Two of a kind are left out: they do not load. */
const LISTS: readonly (readonly Name[])[] = [
  ...NAMES.flatMap((one) => NAMES.filter((other) => other !== one).map((other) => [one, other])),
  ['oidc', 'oauth2', 'api_key', 'anonymous'],
  ['api_key', 'oauth2', 'oidc', 'basic'],
]

type Quality = 'right' | 'wrong' | 'ended'

interface Sent {
  readonly authorization:
    | 'none'
    | 'of no scheme'
    | 'twice'
    | 'basic right'
    | 'basic wrong'
    | 'basic unreadable'
    | 'token right'
    | 'token wrong'
    | 'ticket right'
    | 'ticket wrong'
    | 'ticket ended'
    | 'bearer unreadable'
  readonly key: 'none' | 'right' | 'wrong' | 'twice'
  readonly cookie: 'none' | 'right' | 'wrong' | 'ended' | 'of another realm'
}

const AUTHORIZATIONS: readonly Sent['authorization'][] = [
  'none',
  'of no scheme',
  'twice',
  'basic right',
  'basic wrong',
  'basic unreadable',
  'token right',
  'token wrong',
  'ticket right',
  'ticket wrong',
  'ticket ended',
  'bearer unreadable',
]
const KEYS: readonly Sent['key'][] = ['none', 'right', 'wrong', 'twice']
const COOKIES: readonly Sent['cookie'][] = ['none', 'right', 'wrong', 'ended', 'of another realm']

const REQUESTS: readonly Sent[] = AUTHORIZATIONS.flatMap((authorization) =>
  KEYS.flatMap((key) => COOKIES.map((cookie) => ({ authorization, key, cookie }))),
)

type Expected = `as ${string}` | 'anonymous' | 'refused'

interface Shown {
  readonly by: Name
  readonly quality: Quality
}

/** "The scheme is chosen by the credentials that a request carries", those of other schemes are not looked at. */
const shownInAuthorization = (
  list: readonly Name[],
  { authorization }: Sent,
): Shown | undefined => {
  const [kind, quality] = authorization.split(' ') as [string, string]
  if (kind === 'twice') {
    const reader = list.find((name) => name !== 'api_key' && name !== 'anonymous')
    return reader && { by: reader, quality: 'wrong' }
  }
  const [own, other] = READERS[kind] ?? []
  // "Tickets and the gateway's tokens are told by typ": what is of the one kind is wrong for the other.
  if (own !== undefined && list.includes(own)) return { by: own, quality: qualityOf(quality) }
  return other !== undefined && list.includes(other) ? { by: other, quality: 'wrong' } : undefined
}

const READERS: Readonly<Record<string, readonly [own: Name, other?: Name]>> = {
  basic: ['basic'],
  token: ['oauth2', 'oidc'],
  ticket: ['oidc', 'oauth2'],
  bearer: ['oauth2', 'oidc'],
}

const qualityOf = (word: string): Quality => (word === 'right' || word === 'ended' ? word : 'wrong')

const shownInHeaders = (list: readonly Name[], sent: Sent): readonly Shown[] => {
  const shown = shownInAuthorization(list, sent)
  const isKey = list.includes('api_key') && sent.key !== 'none'
  return [
    ...(shown === undefined ? [] : [shown]),
    ...(isKey ? [{ by: 'api_key', quality: qualityOf(sent.key) } as const] : []),
  ]
}

const expectedOf = (list: readonly Name[], sent: Sent): Expected => {
  const shown = shownInHeaders(list, sent)
  // "Credentials that are there and wrong are refused, never tried under the next scheme or taken as anonymous."
  if (shown.some(({ quality }) => quality === 'wrong')) return 'refused'
  // "Of two others, both must be right, and the first entry names the caller."
  const right = shown.filter(({ quality }) => quality === 'right').map(({ by }) => by)
  const first = list.find((name) => right.includes(name))
  if (first !== undefined) return `as ${first}`
  // "A cookie counts only where no other credential is there."
  const counts = sent.authorization === 'none' && shown.length === 0 && list.includes('oidc')
  return (
    BY_COOKIE[counts ? sent.cookie : 'none'] ??
    (list.includes('anonymous') ? 'anonymous' : 'refused')
  )
}

/** "A genuine ticket that has ended counts as none"; one with a wrong signature is refused. */
const BY_COOKIE: Readonly<Partial<Record<Sent['cookie'], Expected>>> = {
  right: 'as oidc',
  wrong: 'refused',
}

interface Credentials {
  readonly token: string
  readonly ticket: string
  readonly ended: string
  readonly forged: string
  readonly forgedToken: string
  readonly elsewhere: string
}

const credentialsIn = async (home: SecurityHome): Promise<Credentials> => {
  const forger = securityHome({ realms: [RECORD] })
  const order = { realmUri: REALM, sub: 'alice', clientId: 'app', scopes: [], groups: [] }
  const issuedAt = Math.floor(Date.now() / 1000) - 7200
  const past = { issued_at: issuedAt, expires_at: issuedAt + 3600 }
  const ticketOf = async (from: SecurityHome, more: object = {}): Promise<string> =>
    (await from.tickets.issueTicket(ticketOrder(more))).jwt
  return {
    token: (await home.accessTokens.issue(order)).jwt,
    forgedToken: (await forger.accessTokens.issue(order)).jwt,
    ticket: await ticketOf(home),
    ended: await ticketOf(home, past),
    forged: await ticketOf(forger),
    elsewhere: await ticketOf(home, { authrealm: ELSEWHERE.uri }),
  }
}

const basicOf = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`

const headersFor = (
  { authorization, key, cookie }: Sent,
  { token, ticket, ended, forged, forgedToken, elsewhere }: Credentials,
): readonly (readonly [string, string])[] => {
  const texts: Readonly<Record<Sent['authorization'], readonly string[]>> = {
    none: [],
    'of no scheme': ['Digest username="alice"'],
    twice: [basicOf('alice:wonderland'), `Bearer ${token}`],
    'basic right': [basicOf('alice:wonderland')],
    'basic wrong': [basicOf('alice:guess')],
    'basic unreadable': ['Basic\talice'],
    'token right': [`Bearer ${token}`],
    'token wrong': [`Bearer ${forgedToken}`],
    'ticket right': [`Bearer ${ticket}`],
    'ticket wrong': [`Bearer ${forged}`],
    'ticket ended': [`Bearer ${ended}`],
    'bearer unreadable': ['Bearer a.b'],
  }
  const tickets = { none: '', right: ticket, wrong: forged, ended, 'of another realm': elsewhere }
  const keys = { none: [], right: ['right-key'], wrong: ['guess'], twice: ['right-key', 'guess'] }
  return [
    ...texts[authorization].map((text) => ['Authorization', text] as const),
    ...keys[key].map((text) => ['X-Api-Key', text] as const),
    ...(cookie === 'none'
      ? []
      : ([['Cookie', `a=b; svc_ticket_${REALM}=${tickets[cookie]}`]] as const)),
  ]
}

const CHALLENGES: Readonly<Record<Name, string | undefined>> = {
  basic: 'Basic',
  api_key: 'ApiKey',
  oauth2: 'Bearer',
  oidc: 'Bearer',
  anonymous: undefined,
}

const challengedBy = (list: readonly Name[]): readonly string[] => [
  ...new Set(list.flatMap((name) => CHALLENGES[name] ?? [])),
]

describe.each(LISTS.map((list) => [list.join(' or '), list] as const))('%s', (_, list) => {
  it('takes what is right, refuses what is wrong, whatever else is there', async () => {
    const home = securityHome({ realms: [RECORD, ELSEWHERE] })
    const credentials = await credentialsIn(home)
    const demand = list.map((name) => ALTERNATIVES[name])
    const found: string[] = []
    for (const [at, sent] of REQUESTS.entries()) {
      const headers = headersFor(sent, credentials)
      const more = { socket: {}, address: `10.${at}.0.1` }
      const result = await home.call(demand, headers, more)
      const taken = result.kind === 'identity' ? `as ${result.identity.type}` : result.kind
      const expected = expectedOf(list, sent)
      const of = JSON.stringify(sent)
      if (taken !== expected) found.push(`${of}: ${taken} instead of ${expected}`)
      if (result.kind !== 'refused') continue
      const lines = [headersOf(result)['www-authenticate'] ?? []].flat()
      const names = lines.map((line) => line.split(' ')[0])
      if (names.join() !== challengedBy(list).join()) found.push(`${of}: ${names.join()}`)
      const clears = sent.cookie === 'wrong' && result.clearsTicket === true
      if ((result.clearsTicket === true) !== clears) found.push(`${of}: clears`)
    }
    expect(found).toEqual([])
    expect(REQUESTS).toHaveLength(240)
  })

  it('gives the same results on one connection, in any order', async () => {
    const home = securityHome({ realms: [RECORD, ELSEWHERE] })
    const credentials = await credentialsIn(home)
    const demand = list.map((name) => ALTERNATIVES[name])
    const found: string[] = []
    for (const sent of [...REQUESTS, ...REQUESTS.toReversed()]) {
      if (sent.authorization === 'basic wrong') continue
      const result = await home.call(demand, headersFor(sent, credentials))
      const taken = result.kind === 'identity' ? `as ${result.identity.type}` : result.kind
      if (taken !== expectedOf(list, sent)) found.push(`${JSON.stringify(sent)}: ${taken}`)
    }
    expect(found).toEqual([])
  })
})
