// Caches the last identity of a connection with the header that proved it: the same header on the same connection is
// accepted without a digest, a lookup or a signature. It caches only accepted requests, and only while nothing that
// they depend on has changed.

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { SchemeName } from '../../../language/compile/security.ts'
import type { RealmRecord } from '../../../language/realm/record.ts'
import type { IdentityValidity, KnownIdentity, AuthenticationResult } from './authenticator.ts'
import { isSafeMethod } from '../tokens/csrf.ts'
import type { RevocationGate } from './revocation-gate.ts'

/** The header that contains the credentials. */
export interface CredentialSource {
  readonly scheme: SchemeName
  /** Lower case. */
  readonly header: string
  /** A cookie may stand for it, where there is no such header. */
  readonly mayBeCookie: boolean
}

export interface ConnectionIdentityCache {
  /** Undefined: call the authenticator. */
  find(
    request: IncomingMessage,
    source: CredentialSource,
    record: RealmRecord,
  ): KnownIdentity | undefined
  /** For the next request of the same connection. */
  keep(
    request: IncomingMessage,
    source: CredentialSource,
    record: RealmRecord,
    result: AuthenticationResult,
  ): void
}

interface CachedIdentity extends IdentityValidity {
  readonly scheme: SchemeName
  /** Weak, so that a long-lived connection does not retain an old realm record. */
  readonly record: WeakRef<RealmRecord>
  readonly header: string
  readonly text: string
  readonly result: KnownIdentity
}

/** The most that is cached for the next request of a connection. */
const MAX_LENGTH = 8192

/**
 * Caches one text per connection, which is dropped with it and compared only with requests of the same connection. A
 * comparison checks whole machine words at a time, so that its time does not help guessing.
 * @param now Unix time in milliseconds
 */
export const createConnectionIdentityCache = (
  gate: RevocationGate,
  now: () => number,
): ConnectionIdentityCache => {
  const known = new WeakMap<Socket, CachedIdentity>()
  return {
    find: (request, { scheme, header, mayBeCookie }, record) => {
      const last = known.get(request.socket)
      if (last === undefined) return undefined
      if (last.record.deref() !== record || last.until <= now()) {
        known.delete(request.socket)
        return undefined
      }
      if (last.scheme !== scheme) return undefined
      if (!mayBeCookie && last.header !== header) return undefined
      const text = textThatCounts(request, mayBeCookie, last.header)
      return text === last.text && gate(last) === 'good' ? last.result : undefined
    },
    keep: (request, { scheme, header, mayBeCookie }, record, result) => {
      if (result.kind !== 'identity') return
      const used = mayBeCookie ? ticketHeader(request) : header
      const text = textThatCounts(request, mayBeCookie, used)
      if (text === undefined || text.length > MAX_LENGTH) return
      const { until, revocationKeys } = result.validity
      const cached = { scheme, header: used, text, result, until, revocationKeys }
      known.set(request.socket, { ...cached, record: new WeakRef(record) })
    },
  }
}

/**
 * The header that decides alone, or undefined: a cookie does not if other headers must be checked too (behaviour §6).
 */
const textThatCounts = (
  { rawHeaders, method }: IncomingMessage,
  mayBeCookie: boolean,
  header: string,
): string | undefined => {
  const isByCookie = mayBeCookie && header === 'cookie'
  if (isByCookie && (!isSafeMethod(method) || hasHeader(rawHeaders, 'authorization')))
    return undefined
  return soleValue(rawHeaders, header)
}

const ticketHeader = ({ rawHeaders }: IncomingMessage): string =>
  hasHeader(rawHeaders, 'authorization') ? 'authorization' : 'cookie'

const hasHeader = (raw: readonly string[], name: string): boolean => {
  for (let at = 0; at < raw.length; at += 2) if (isNamed(raw[at], name)) return true
  return false
}

/** Undefined if the header is missing, or occurs twice. */
const soleValue = (raw: readonly string[], name: string): string | undefined => {
  let value: string | undefined
  for (let at = 0; at < raw.length; at += 2) {
    if (!isNamed(raw[at], name)) continue
    if (value !== undefined) return undefined
    value = raw[at + 1]
  }
  return value
}

const isNamed = (each: string | undefined, name: string): boolean =>
  each?.length === name.length && each.toLowerCase() === name
