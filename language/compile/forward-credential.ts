// Compiles the `credential` of a forward (behaviour §4), and rejects at load what could never work: a name that the realm
// lacks, a host that the credential is not for, a caller without a token to exchange.

import { childPointer } from '../../base/json-pointer.ts'
import { didYouMean } from '../../base/nearest-name.ts'
import type { Method } from '../document.ts'
import type { RealmFacts } from '../realm/environment.ts'
import type { Template } from '../expression/template.ts'
import { isMap } from '../expression/value.ts'
import { type CredentialFacts, SETS_AUTHORIZATION } from '../realm/credentials.ts'
import { readOrigin } from '../upstream-origin.ts'
import type { Diagnostics } from './diagnostics.ts'
import { type FoldedMap, readText } from './folded.ts'
import type { UpstreamHost } from './hosts.ts'
import type { CompiledSecurity } from './security.ts'

/** What the validation of a credential depends on besides the action. */
export interface CredentialDeps {
  readonly method: Method
  /** The security of the path. */
  readonly security: CompiledSecurity
  /** The credentials of the realm; undefined: not known. */
  readonly credentials: RealmFacts['credentials']
}

interface ActionParts extends CredentialDeps {
  readonly hosts: readonly UpstreamHost[]
  readonly headers: Template | undefined
}

/** The name; undefined: there is none, or a problem was reported. */
export const compileCredential = (
  map: FoldedMap,
  parts: ActionParts,
  diagnostics: Diagnostics,
): string | undefined => {
  const pointer = childPointer(map.pointer, 'credential')
  const template = map.get('credential')
  const name = template && readText(template, pointer, diagnostics)
  if (name === undefined || parts.credentials === undefined) return name
  if (!Object.hasOwn(parts.credentials, name)) {
    const hint = hintFor(name, parts.credentials)
    diagnostics.problem('invalid_value', pointer, `the realm has no credential '${name}'${hint}`)
    return undefined
  }
  const facts = parts.credentials[name]
  if (facts === undefined) return undefined
  if (facts.isWithheld === true) return name
  checkCaller(facts, parts, pointer, diagnostics)
  checkHosts(name, facts, { map, hosts: parts.hosts }, diagnostics)
  checkHeaders(facts, parts.headers, childPointer(map.pointer, 'headers'), diagnostics)
  return name
}

/** The author of a document is not shown the names of credentials that it may not use. */
const hintFor = (name: string, credentials: Readonly<Record<string, CredentialFacts>>): string => {
  const all = Object.entries(credentials)
  if (all.length === 0) return ': it has none'
  const usable = all.filter(([, { isWithheld }]) => isWithheld !== true)
  return didYouMean(
    name,
    usable.map(([each]) => each),
  )
}

/** Checks that callers have a token which can be exchanged. */
const checkCaller = (
  { kind }: CredentialFacts,
  { security, method }: ActionParts,
  pointer: string,
  diagnostics: Diagnostics,
): void => {
  if (kind !== 'token_exchange') return
  if (!security.every(({ type }) => type === 'oauth2' || type === 'oidc'))
    diagnostics.problem(
      'invalid_value',
      pointer,
      'this credential exchanges the token of the caller (token_exchange), so the path needs security of type oauth2 or oidc',
    )
  else if (method === 'options')
    diagnostics.problem(
      'invalid_value',
      pointer,
      'this credential exchanges the token of the caller (token_exchange), and OPTIONS is not authenticated',
    )
}

const checkHosts = (
  name: string,
  { origins }: CredentialFacts,
  { map, hosts }: { readonly map: FoldedMap; readonly hosts: readonly UpstreamHost[] },
  diagnostics: Diagnostics,
): void => {
  for (const { path, template } of hosts) {
    if (template.kind !== 'constant' || typeof template.value !== 'string') continue
    const reading = readOrigin(template.value)
    if (!reading.ok || origins.includes(reading.origin)) continue
    const hint = didYouMean(reading.origin, origins)
    diagnostics.problem(
      'invalid_value',
      path.split('/').reduce(childPointer, map.pointer),
      `${reading.origin} is not an origin of the credential '${name}', which is for ${origins.join(', ')}${hint}`,
    )
  }
}

/** A credential and a document that both set one header are a mistake: it would not be obvious which of them counts. */
const checkHeaders = (
  { kind }: CredentialFacts,
  headers: Template | undefined,
  pointer: string,
  diagnostics: Diagnostics,
): void => {
  if (!SETS_AUTHORIZATION[kind] || headers === undefined) return
  const own = headerNames(headers).find((each) => each.toLowerCase() === 'authorization')
  if (own !== undefined)
    diagnostics.problem(
      'invalid_value',
      childPointer(pointer, own),
      'the credential of this action sets the header authorization: leave out one of the two',
    )
}

/** As far as they are known at load. */
const headerNames = (headers: Template): readonly string[] => {
  if (headers.kind === 'map') return headers.entries.map(([name]) => name)
  return headers.kind === 'constant' && isMap(headers.value) ? Object.keys(headers.value) : []
}
