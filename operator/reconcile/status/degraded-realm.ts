// Sets the condition Degraded of a Realm whose identity providers can't be discovered by gateways, so that logins by them
// fail, or whose credentials for upstreams can't be used. Pure.

import type {
  CredentialCause,
  FailingCredential,
  FailingProvider,
  ProviderCause,
} from '../../../language/wire/wire.ts'
import type { NewCondition } from '../../resource/condition.ts'
import type { Sight } from './fleet-view.ts'

/** Most providers or credentials that a message names. */
const MAX_REPORTED = 3

/** Gateways report a failure once it has lasted, and retry by themselves. */
export const realmDegraded = (uri: string, sight: Sight): NewCondition<'Degraded'> | undefined => {
  const { failing } = sight
  if (failing === undefined) return undefined
  const { first, others } = failing
  const { failingProviders = [], failingCredentials = [] } = first.realms.get(uri) ?? {}
  const words = [...failingProviders.map(providerWords), ...failingCredentials.map(credentialWords)]
  const more = words.length > MAX_REPORTED ? `; and ${words.length - MAX_REPORTED} more` : ''
  const message =
    `${first.dataPlane.name}${others > 0 ? ' and others' : ''}: ` +
    words.slice(0, MAX_REPORTED).join('; ') +
    more
  const reason = failingProviders.length > 0 ? 'ProviderUnavailable' : 'CredentialUnavailable'
  return { type: 'Degraded', status: 'True', reason, message }
}

const providerWords = ({ provider, cause, found }: FailingProvider): string => {
  const { words, fix: usual } = WORDS[cause]
  const fix = cause === 'issuer' && found?.includes('{') === true ? OF_MANY_TENANTS : usual
  const instead = found === undefined ? '' : ` (${found})`
  return `no login is possible with provider '${provider.slice(0, MAX_NAME)}', as ${words}${instead}: ${fix}`
}

const MAX_NAME = 100

/** Its metadata has a template, such as https://login.example/{tenantid}/v2.0, which no token is of. */
const OF_MANY_TENANTS = 'that one is of many tenants: write the issuer of yours'

interface Words {
  readonly words: string
  readonly fix: string
}

/**
 * How a server can't be reached.
 * @param field of the Realm that has its address
 */
const unreachable = (server: string, field: string): Record<Unreachable, Words> => ({
  refused: {
    words: `its ${server} can not be reached, or refuses connections`,
    fix: `correct ${field}, or start it`,
  },
  dns: { words: `the name of its ${server} is not found`, fix: `correct ${field}` },
  tls: {
    words: `the TLS handshake with its ${server} fails`,
    fix: `correct ${field}, give its CA as ca, or have it renew its certificate`,
  },
  denied: {
    words: `its ${server} is not an allowed destination`,
    fix: `correct ${field}, or allow it (--upstream-allow, --upstream-deny of the gateway)`,
  },
  timeout: {
    words: `its ${server} does not answer within 5 s`,
    fix: `correct ${field}, or start it`,
  },
  reset: {
    words: `what listens at its ${server} does not answer in HTTP`,
    fix: `correct ${field}`,
  },
})

type Unreachable = 'refused' | 'dns' | 'tls' | 'denied' | 'timeout' | 'reset'

const WORDS = {
  ...unreachable('issuer', 'issuer'),
  plain_http: {
    words: 'its issuer, or an endpoint that it names, is http',
    fix: 'use https, or set allowUnsafeHttp where that is safe',
  },
  status: {
    words: 'its issuer answers the request for its metadata with another status than 200',
    fix: 'correct issuer: append /.well-known/openid-configuration to find the metadata',
  },
  metadata: {
    words: 'its metadata is not that of an OpenID provider',
    fix: 'correct issuer: append /.well-known/openid-configuration to see it',
  },
  issuer: {
    words: 'its metadata names another issuer',
    fix: 'write issuer exactly as its metadata does, with or without a slash at the end',
  },
} satisfies Record<ProviderCause, Words>

const credentialWords = ({ credential, cause, found }: FailingCredential): string => {
  const { words, fix } = CREDENTIAL_WORDS[cause]
  const instead = found === undefined ? '' : ` (${found})`
  return `credential '${credential.slice(0, MAX_NAME)}': ${words}${instead}: ${fix}`
}

const CREDENTIAL_WORDS = {
  ...unreachable('token endpoint', 'tokenEndpoint'),
  status: {
    words: 'its token endpoint answers with a status that is neither a token nor an OAuth error',
    fix: 'correct tokenEndpoint',
  },
  response: {
    words: 'its token endpoint sends no bearer token that can be used',
    fix: 'correct tokenEndpoint, or what the authorization server issues to this client',
  },
  invalid_client: {
    words: 'its token endpoint does not accept the client',
    fix: 'compare clientId, the Secret of clientSecret and tokenEndpointAuthMethod with the authorization server',
  },
  oauth_error: {
    words: 'its token endpoint refuses',
    fix: 'allow the grant to this client at the authorization server, and compare scopes, audience and resource',
  },
  certificate_invalid: {
    words: "its certificate, private key or CAs can't be read, or are not for each other",
    fix: 'correct the Secret',
  },
  certificate_expired: { words: 'its certificate has expired', fix: 'renew it in its Secret' },
  certificate_early: {
    words: 'its certificate is not valid yet',
    fix: 'correct the Secret, or the clock of the gateway',
  },
  certificate_ends: {
    words: 'its certificate expires soon, requests are still sent with it',
    fix: 'renew it in its Secret',
  },
} satisfies Record<CredentialCause, Words>
