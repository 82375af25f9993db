// Decides whether somebody who is not logged in is redirected to the login: only a browser that opens a page in a tab,
// at the host of the provider's callback. It never uses an origin that a client has named. Pure.

import type { IncomingHttpHeaders } from 'node:http'
import { captureMixed, type PathStep } from '../../language/routes/mixed-segment.ts'
import { mountPath } from '../../language/routes/path-pattern.ts'
import type { OidcProviderRecord, RealmRecord } from '../../language/realm/record.ts'
import type { Authority } from '../../language/routes/authority.ts'
import { cookieValues, returnCookieName } from '../security/session-cookies.ts'
import { isFetchedInAdvance } from './fetched-in-advance.ts'
import { providerOf } from './provider/find-provider.ts'
import { chooseTarget } from './redirect-target.ts'

/** A request that was rejected for want of a ticket. */
export interface Unauthenticated {
  /** Upper case. */
  readonly method: string
  /** In the form of `IncomingMessage`: cookies are read from the raw ones. */
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
  readonly authority: Authority
  /** As sent, without the query. */
  readonly path: string
  /** As sent, without `?`; `""` without one. */
  readonly query: string
}

/** What the request was for. */
export interface ProtectedPage {
  /** As the document has it, brackets and all. */
  readonly basePath: string
  readonly realmUri: string
  /** undefined: it is gone. */
  readonly realm: RealmRecord | undefined
  /** The scheme's. */
  readonly provider: string
}

export type LoginDecision =
  /** 401, as for a program. */
  | { readonly kind: 'reject' }
  /** 401 that says, in a whole sentence, why the browser is not redirected. */
  | { readonly kind: 'explain'; readonly reason: string }
  /** A path and query of the gateway. */
  | { readonly kind: 'redirect'; readonly location: string }

/** The query parameter by which a login knows that the gateway has redirected the browser to it. */
export const REDIRECTED = 'redirected'

/** Behaviour §6, *Login redirect*. */
export const decideLogin = (request: Unauthenticated, page: ProtectedPage): LoginDecision => {
  if (request.method !== 'GET' || request.headers['sec-fetch-mode'] !== 'navigate') return REJECT
  const record = providerOf(page.realm, page.provider)
  if (record === undefined) return explain('the realm has no such provider now')
  const blocker = BLOCKERS.find(({ holds }) => holds(request, page, record))
  if (blocker !== undefined) return explain(blocker.reason)
  const location = loginUrl(request, page)
  return location === undefined
    ? explain('there is no way back to this URL, which is too long or has an ambiguous path')
    : { kind: 'redirect', location }
}

const REJECT: LoginDecision = { kind: 'reject' }

const explain = (reason: string): LoginDecision => ({
  kind: 'explain',
  reason: `Not redirected to the login: ${reason}.`,
})

interface Blocker {
  readonly holds: (
    request: Unauthenticated,
    page: ProtectedPage,
    record: OidcProviderRecord,
  ) => boolean
  readonly reason: string
}

function hasJustReturned({ rawHeaders }: Unauthenticated, { realmUri }: ProtectedPage): boolean {
  return cookieValues(rawHeaders, returnCookieName(realmUri)).some((value) => value !== '')
}

/** In the order in which they are reported: the first that holds is. */
const BLOCKERS: readonly Blocker[] = [
  {
    // Providers refuse to be framed, and a login that the user does not see can't be what the user wants.
    holds: ({ headers }) => headers['sec-fetch-dest'] !== 'document',
    reason: 'only pages in a tab of their own are, not frames, objects or the like',
  },
  {
    holds: ({ headers }) => isFetchedInAdvance(headers),
    reason: 'the page is fetched in advance, and no person has opened it yet',
  },
  {
    holds: ({ headers }) => headers.authorization !== undefined,
    reason:
      'the request has an Authorization header, which decides alone, so that no login would help',
  },
  {
    holds: (request, page, { cookie_same_site: sameSite }) =>
      sameSite === 'strict' && hasJustReturned(request, page),
    reason:
      'the browser has just come back from it, and with cookie_same_site strict it does not send its ticket when it comes from another site. Open the page again; if that happens each time, cookie_same_site should be lax',
  },
  {
    holds: hasJustReturned,
    reason:
      'the browser has just come back from it, and its ticket is missing or not valid here. Cookies may be blocked, cookie_domain may not fit, or gateways may sign with different keys. Wait ten seconds before trying again',
  },
  {
    holds: ({ authority }, _page, record) => !isHostOf(authority, record.redirect_uri),
    reason:
      "the login works only at the host of the provider's redirect_uri, and this is another one; open the page there",
  },
]

/** Cookies of a login belong to one host: begun at another, it would fail at its callback. */
const isHostOf = ({ text }: Authority, callback: string): boolean => {
  const url = URL.parse(callback)
  return url !== null && URL.parse(`${url.protocol}//${text}`)?.host === url.host
}

/** A login and its callback have to carry it; with cookies it must stay below 16 kB. */
const MAX_LOCATION_CHARS = 4096

const loginUrl = (
  { path, query }: Unauthenticated,
  { basePath, provider }: ProtectedPage,
): string | undefined => {
  const login = loginPath(basePath, path)
  const back = chooseTarget(query === '' ? path : `${path}?${query}`, OWN_PATHS)
  if (login === undefined || back.isRefused) return undefined
  const parameters = { provider, redirect_uri: back.location, [REDIRECTED]: 'true' }
  const location = `${login}?${new URLSearchParams(parameters).toString()}`
  return location.length > MAX_LOCATION_CHARS ? undefined : location
}

const OWN_PATHS = { ownOrigin: undefined, allowedOrigins: [] }

const LOGIN = ['oidc', 'login'] as const

/** The login of the version, below the base path as this request has it: its bindings and optional segments stay. */
const loginPath = (basePath: string, path: string): string | undefined => {
  const sent = path.split('/').slice(1).map(decoded)
  const ways = mountPath(basePath, `/${LOGIN.join('/')}`).patterns.map(({ segments }) =>
    segments.slice(0, -LOGIN.length),
  )
  const way = ways
    .filter((base) => base.every((step, at) => isSegment(sent[at], step)))
    .sort((one, other) => other.length - one.length)[0]
  if (way === undefined) return undefined
  const base = sent.slice(0, way.length).map((segment) => encodeURIComponent(segment ?? ''))
  return `/${[...base, ...LOGIN].join('/')}`
}

const isSegment = (sent: string | undefined, step: PathStep | undefined): boolean => {
  if (sent === undefined || typeof step === 'string') return sent === step
  return step ? captureMixed(step, sent) !== undefined : sent !== ''
}

const decoded = (segment: string): string | undefined => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}
