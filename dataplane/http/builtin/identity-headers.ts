// Who somebody is in, the headers out by which a proxy in front of other services learns it (behaviour §6). What
// a header can't hold is percent-encoded, so that nothing can pass for something else.

import { isList, type Value } from '../../../language/expression/value.ts'
import type { Identity } from '../../security/authentication.ts'
import type { HeaderList } from '../response/headers.ts'

/**
 * What is empty is left out; lists are joined with commas.
 * @example identityHeaders(alice) // [['x-svc-type', 'oidc'], …, ['x-svc-authroles', 'admin,staff'], …]
 */
export const identityHeaders = (identity: Identity): HeaderList =>
  MEMBERS.flatMap(([name, member]) => {
    const text = toText(identity[member])
    return text === '' ? [] : [[name, text] as const]
  })

const MEMBERS = [
  ['x-svc-type', 'type'],
  ['x-svc-realm-uri', 'realm_uri'],
  ['x-svc-authid', 'authid'],
  ['x-svc-username', 'username'],
  ['x-svc-authmethod', 'authmethod'],
  ['x-svc-authroles', 'authroles'],
  ['x-svc-groups', 'groups'],
  ['x-svc-client-id', 'client_id'],
  ['x-svc-session', 'session'],
  ['x-svc-scope', 'scope'],
  ['x-svc-locale', 'locale'],
] as const satisfies readonly (readonly [string, keyof Identity])[]

/** A map (the scope of a ticket) is in the body alone. */
const toText = (value: Value | undefined): string => {
  if (typeof value === 'string') return encode(value)
  return isList(value ?? null) ? texts(value).map(encodeElement).join(',') : ''
}

const texts = (value: Value | undefined): readonly string[] =>
  (isList(value ?? null) ? (value as readonly Value[]) : []).filter(
    (each): each is string => typeof each === 'string',
  )

/** `%` too, else an escape could be forged; blanks at the ends, for they would be trimmed. */
const encode = (text: string): string => text.toWellFormed().replace(UNSAFE, encodeURIComponent)

const UNSAFE = /[^ -~]|%|^ | $/gu

/** A comma within a name makes no two of it. */
const encodeElement = (text: string): string => encode(text).replaceAll(',', '%2C')
