// Reads the credentials of a realm record: which kind each has, where it may be sent, and what the schema can't say of
// it. No message ever shows a secret.

import { childPointer } from '../../base/json-pointer.ts'
import type { Problem } from '../problem.ts'
import { readOrigin } from '../upstream-origin.ts'
import type { CredentialRecord, RealmRecord } from './record.ts'

export type CredentialKind = Exclude<keyof CredentialRecord, 'origins'>

/** What a document is validated by that names a credential. */
export interface CredentialFacts {
  readonly kind: CredentialKind
  /** As `readOrigin` gives them. */
  readonly origins: readonly string[]
  /** The document may not use it: the caller of the compiler says so, and nothing else of it is known. */
  readonly isWithheld?: true
}

/** Whether a kind sets the `Authorization` header, which nothing else then does. */
export const SETS_AUTHORIZATION = {
  bearer: true,
  basic: true,
  client_credentials: true,
  token_exchange: true,
  certificate: false,
} as const satisfies Record<CredentialKind, boolean>

const KINDS = Object.keys(SETS_AUTHORIZATION) as readonly CredentialKind[]

/** The kind of a valid credential. */
export const credentialKind = (credential: CredentialRecord): CredentialKind | undefined =>
  KINDS.find((kind) => credential[kind] !== undefined)

/**
 * The origins that it may be sent to, as `readOrigin` gives them: they are compared as a whole, scheme, host and port.
 * @example originsOf({ origins: ['https://A.example:443'] }) // new Set(['https://a.example'])
 */
export const originsOf = ({ origins }: Pick<CredentialRecord, 'origins'>): ReadonlySet<string> =>
  new Set(
    origins.flatMap((text) => {
      const reading = readOrigin(text)
      return reading.ok ? [reading.origin] : []
    }),
  )

/** Facts of credentials by name. */
export const credentialFactsOf = ({
  credentials = {},
}: RealmRecord): Readonly<Record<string, CredentialFacts>> => {
  const facts = Object.entries(credentials).flatMap(
    ([name, credential]): readonly (readonly [string, CredentialFacts])[] => {
      const kind = credentialKind(credential)
      return kind === undefined ? [] : [[name, { kind, origins: [...originsOf(credential)] }]]
    },
  )
  // All are own members, also one that is called __proto__.
  return Object.fromEntries(facts)
}

/** The facts for a document that may not use some of them. */
export const withholdFacts = (
  credentials: Readonly<Record<string, CredentialFacts>>,
  withheld: readonly string[],
): Readonly<Record<string, CredentialFacts>> =>
  Object.fromEntries(
    Object.entries(credentials).map(([name, facts]): readonly [string, CredentialFacts] => [
      name,
      withheld.includes(name) ? { kind: facts.kind, origins: [], isWithheld: true } : facts,
    ]),
  )

/** What is wrong with credentials that have the shape that the schema asks for. */
export const credentialProblems = ({ credentials = {} }: RealmRecord): readonly Problem[] =>
  Object.entries(credentials).flatMap(([name, credential]) =>
    problemsOf(credential, childPointer('/credentials', name)),
  )

const problemsOf = (credential: CredentialRecord, pointer: string): readonly Problem[] => [
  ...kindProblems(credential, pointer),
  ...originProblems(credential, childPointer(pointer, 'origins')),
  ...KINDS.flatMap((kind) => CHECKS[kind](credential, childPointer(pointer, kind))),
]

const kindProblems = (credential: CredentialRecord, path: string): readonly Problem[] => {
  const kinds = KINDS.filter((kind) => credential[kind] !== undefined)
  if (kinds.length === 1) return []
  const message =
    kinds.length === 0
      ? `a credential needs one of ${KINDS.join(', ')}`
      : `a credential has one kind, not ${kinds.join(' and ')}: make a credential of each`
  return [{ code: kinds.length === 0 ? 'missing_required_value' : 'invalid_value', path, message }]
}

const originProblems = (
  { origins, certificate }: CredentialRecord,
  pointer: string,
): readonly Problem[] =>
  origins.flatMap((text, index) => {
    const path = childPointer(pointer, index)
    const reading = readOrigin(text)
    if (!reading.ok) return [invalid(path, `an origin ${withoutMembers(reading.message)}`)]
    if (certificate === undefined || reading.origin.startsWith('https:')) return []
    return [invalid(path, 'a certificate is shown to https origins alone: write https://…')]
  })

/** What `readOrigin` says to authors of actions. */
const withoutMembers = (message: string): string => message.replace(/: write .*$/, '')

type Check = (credential: CredentialRecord, pointer: string) => readonly Problem[]

const CHECKS = {
  bearer: ({ bearer }, pointer) =>
    bearer === undefined || isToken(bearer.token)
      ? []
      : [
          invalid(
            childPointer(pointer, 'token'),
            'a bearer token is one word of letters, digits and -._~+/ (RFC 6750 §2.1): is there a line break at its end, or "Bearer" before it?',
          ),
        ],
  basic: ({ basic }, pointer) =>
    basic === undefined || !CONTROL.test(basic.password)
      ? []
      : [
          invalid(
            childPointer(pointer, 'password'),
            'a password has no control characters: is there a line break at its end?',
          ),
        ],
  client_credentials: ({ client_credentials: client }, pointer) => clientProblems(client, pointer),
  token_exchange: ({ token_exchange: client }, pointer) => clientProblems(client, pointer),
  certificate: ({ certificate: own }, pointer) =>
    own === undefined
      ? []
      : [
          ...pemProblems(own.certificate, childPointer(pointer, 'certificate'), CERTIFICATE),
          ...pemProblems(own.private_key, childPointer(pointer, 'private_key'), PRIVATE_KEY),
          ...serverNameProblems(own.server_name, childPointer(pointer, 'server_name')),
        ],
} as const satisfies Record<CredentialKind, Check>

const CONTROL = /\p{Cc}/u

/** b64token of RFC 6750 §2.1, of a length that servers accept in a header. */
const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/
const MAX_TOKEN_LENGTH = 8192

/** Whether a text may stand behind `Bearer` in a header. */
export const isToken = (text: string): boolean =>
  text.length <= MAX_TOKEN_LENGTH && TOKEN.test(text)

type Client = NonNullable<CredentialRecord['client_credentials']>

const clientProblems = (client: Client | undefined, pointer: string): readonly Problem[] => {
  if (client === undefined) return []
  const problems: Problem[] = []
  const url = URL.parse(client.token_endpoint)
  const path = childPointer(pointer, 'token_endpoint')
  if (url?.username !== '' || url.password !== '' || url.hash !== '')
    problems.push(
      invalid(path, 'expected a URL such as https://idp.example.com/token, without user and #'),
    )
  else if (url.protocol !== 'https:' && client.allow_unsafe_http !== true)
    problems.push(
      invalid(
        path,
        'a client secret is sent to it, so it must be https://…, or, to try things out, set allow_unsafe_http (allowUnsafeHttp in a Realm resource)',
      ),
    )
  return problems
}

/** RFC 6066 §3: an address is no server name. */
const serverNameProblems = (name: string | undefined, path: string): readonly Problem[] =>
  name !== undefined && /^[\d.]+$/.test(name)
    ? [invalid(path, 'expected a name, such as billing.example.com: an address is none')]
    : []

const CERTIFICATE = {
  pattern: /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/,
  expected: 'expected certificates in PEM: -----BEGIN CERTIFICATE-----',
} as const

const PRIVATE_KEY = {
  pattern: /-----BEGIN (?:RSA |EC )?PRIVATE KEY-----[^-]+-----END (?:RSA |EC )?PRIVATE KEY-----/,
  expected: 'expected a private key in PEM that is not encrypted: -----BEGIN PRIVATE KEY-----',
} as const

const pemProblems = (
  text: string | undefined,
  path: string,
  { pattern, expected }: typeof CERTIFICATE | typeof PRIVATE_KEY,
): readonly Problem[] => (text === undefined || pattern.test(text) ? [] : [invalid(path, expected)])

const invalid = (path: string, message: string): Problem => ({
  code: 'invalid_value',
  path,
  message,
})
