// Makes what a data plane reports of its realms safe to be shown to their owners: sessions, failing identity providers and
// credentials of realms that it was given, with addresses and names of the Realm and reasons of a closed list only.

import { displayUrl } from '../../language/display-url.ts'
import type { RealmRecord } from '../../language/realm/record.ts'
import type { FailingProvider, SessionState } from '../../language/wire/wire.ts'
import type { LoadedRealm } from '../data-plane.ts'
import type { DesiredRealm } from '../desired-set.ts'
import { changedKeys, edited } from '../edited-map.ts'

type Realms = ReadonlyMap<string, LoadedRealm>

/** Compares the reports of one data plane, one after another: only realms that have changed are looked at. */
export class ReportedRealms {
  #loaded: Realms = new Map()
  #given: ReadonlyMap<string, DesiredRealm> = new Map()
  #reported: Realms = new Map()

  /** What it says of realms that it was not given is left out. */
  follow(loaded: Realms, given: ReadonlyMap<string, DesiredRealm>): Realms {
    const edits = new Map<string, LoadedRealm | undefined>()
    for (const keys of [changedKeys(this.#loaded, loaded), changedKeys(this.#given, given)]) {
      for (const uri of keys) {
        const realm = loaded.get(uri)
        edits.set(uri, realm && reportedRealm(realm, given.get(uri)?.record))
      }
    }
    this.#loaded = loaded
    this.#given = given
    this.#reported = edited(this.#reported, edits)
    return this.#reported
  }
}

const reportedRealm = (
  { digest, sessions, failingProviders = [], failingCredentials = [] }: LoadedRealm,
  record: RealmRecord | undefined,
): LoadedRealm => {
  const urls = record === undefined || sessions.length === 0 ? NO_URLS : urlsOf(record)
  const providers = failingProviders.filter((each) => isOfRealm(each, record))
  const credentials = failingCredentials.filter(({ credential }) =>
    Object.hasOwn(record?.credentials ?? {}, credential),
  )
  return {
    digest,
    sessions: record === undefined ? [] : sessions.map((session) => reportedSession(session, urls)),
    ...(providers.length > 0 && { failingProviders: providers }),
    ...(credentials.length > 0 && { failingCredentials: credentials }),
  }
}

const isOfRealm = ({ provider }: FailingProvider, record: RealmRecord | undefined): boolean =>
  Object.hasOwn(record?.info?.oidc_providers ?? {}, provider)

const NO_URLS: ReadonlySet<string> = new Set()

const urlsOf = ({ router }: RealmRecord): ReadonlySet<string> =>
  new Set(
    [...(router?.url === undefined ? [] : [router.url]), ...(router?.urls ?? [])].map(displayUrl),
  )

const reportedSession = (
  { url, state, reason }: SessionState,
  urls: ReadonlySet<string>,
): SessionState => ({
  url: urls.has(url) ? url : '',
  state,
  ...(reason !== undefined && { reason: knownReason(reason) }),
})

/**
 * In place of a reason that is not on the list: routers and data planes may write anything there.
 * @internal exported for tests
 */
export const OTHER_REASON = 'another reason: see the log of the data plane'

const ERRORS = [
  'no_such_realm',
  'no_such_role',
  'no_such_principal',
  'not_authorized',
  'authentication_failed',
  'authentication_denied',
  'authentication_required',
  'no_auth_method',
  'no_matching_auth_method',
  'cannot_authenticate',
  'authorization_failed',
  'authorization_denied',
  'authorization_required',
  'protocol_violation',
  'invalid_uri',
  'timeout',
  'net_failure',
  'system_shutdown',
]

const CLOSES = ['normal', 'close_realm', 'goodbye_and_out', 'killed', 'system_shutdown']

/** The error URIs of WAMP, and of gateways themselves. */
const URIS: ReadonlySet<string> = new Set([
  ...ERRORS.map((name) => `wamp.error.${name}`),
  ...CLOSES.map((name) => `wamp.close.${name}`),
  'closed',
])

/** How a connection ended. */
const ENDS: ReadonlySet<string> = new Set(['unreachable', 'lost', 'silent', 'malformed', 'closed'])

/** What the system, TLS or the gateway call the cause. */
const CAUSES = [
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOENT',
  'EACCES',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EMFILE',
  'self-signed certificate',
  'certificate has expired',
  'certificate is not yet valid',
  'unable to verify the first certificate',
  'unable to get local issuer certificate',
  "does not match certificate's altnames",
  'no connection within',
]

/**
 * @example knownReason('wamp.error.net_failure: unreachable, ECONNREFUSED 10.0.0.1:80') // without the address
 * @internal exported for tests
 */
export const knownReason = (reason: string): string => {
  const [uri = '', text = ''] = splitAt(reason, ': ')
  if (!URIS.has(uri)) return OTHER_REASON
  const [end = '', rest = ''] = splitAt(text, ', ')
  if (!ENDS.has(end)) return uri
  const cause = CAUSES.find((each) => rest.includes(each))
  return `${uri}: ${end}${cause === undefined ? '' : `, ${cause}`}`
}

const splitAt = (text: string, separator: string): readonly string[] => {
  const index = text.indexOf(separator)
  return index < 0 ? [text] : [text.slice(0, index), text.slice(index + separator.length)]
}
