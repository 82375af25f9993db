// Sets the condition Degraded of a Realm with identity providers that gateways can't discover, so that nobody can log
// in by them. Pure.

import type { FailingProvider, ProviderCause } from '../../../language/wire/wire.ts'
import type { NewCondition } from '../../resource/condition.ts'
import type { Sight } from './fleet-view.ts'

/** Most providers that a message tells of. */
const MOST_TOLD = 3

/** Gateways report a failure when it has lasted, and try again by themselves. */
export const providersDegraded = (
  uri: string,
  sight: Sight,
): NewCondition<'Degraded'> | undefined => {
  const { withoutProvider } = sight
  if (withoutProvider === undefined) return undefined
  const { first, others } = withoutProvider
  const failing = first.realms.get(uri)?.failingProviders ?? []
  const more = failing.length > MOST_TOLD ? `; and ${failing.length - MOST_TOLD} more` : ''
  const message =
    `${first.dataPlane.name}${others > 0 ? ' and others' : ''}: ` +
    failing.slice(0, MOST_TOLD).map(providerWords).join('; ') +
    more
  return { type: 'Degraded', status: 'True', reason: 'ProviderUnavailable', message }
}

const providerWords = ({ provider, cause, found }: FailingProvider): string => {
  const { words, fix } = WORDS[cause]
  const instead = found === undefined ? '' : ` (${found})`
  return `nobody can log in by provider '${provider.slice(0, MAX_NAME)}', as ${words}${instead}: ${fix}`
}

const MAX_NAME = 100

interface Words {
  readonly words: string
  readonly fix: string
}

const ISSUER = 'correct issuer, or start it'

const WORDS = {
  refused: { words: 'its issuer can not be reached, or refuses connections', fix: ISSUER },
  dns: { words: 'the name of its issuer is not found', fix: 'correct issuer' },
  tls: {
    words: 'the TLS handshake with its issuer fails',
    fix: 'correct issuer, give its CA as ca, or have it renew its certificate',
  },
  denied: {
    words: 'its issuer is not an allowed destination',
    fix: 'correct issuer, or allow it (--upstream-allow, --upstream-deny of the gateway)',
  },
  timeout: { words: 'its issuer does not answer within 5 s', fix: ISSUER },
  reset: { words: 'what listens at its issuer does not answer in HTTP', fix: 'correct issuer' },
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
} as const satisfies Record<ProviderCause, Words>
