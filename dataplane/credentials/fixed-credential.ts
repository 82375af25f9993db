// Implements credentials that are one header for every request, which only another record of the realm changes.

import type { CredentialRecord } from '../../language/realm/record.ts'
import type { Credential } from './credential.ts'

/** @example bearerHeader({ token: 'abc' }) // 'Bearer abc' */
export const bearerHeader = ({ token }: NonNullable<CredentialRecord['bearer']>): string =>
  `Bearer ${token}`

/** RFC 7617, in UTF-8. */
export const basicHeader = ({
  username,
  password,
}: NonNullable<CredentialRecord['basic']>): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`

export const createFixedCredential = (header: string): Credential => {
  const result = { ok: true, authorization: { header } } as const
  return {
    authorize: (_subject, done) => {
      done(result)
    },
    prepare: () => undefined,
    problem: () => undefined,
  }
}
