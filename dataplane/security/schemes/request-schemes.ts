// Finds the schemes of a Security Object that a request has credentials for.

import type { CompiledSecurity } from '../../../language/compile/security.ts'
import type { RealmRecord } from '../../../language/realm/record.ts'
import { findCredentials, type FoundCredentials } from '../../../language/request-credentials.ts'
import { valuesOf } from '../../upstream/headers.ts'
import { type CredentialSource, hasSignature } from './signature.ts'

/** @param record says where signatures stand; if left out, none are looked for */
export const schemesOfRequest = (
  security: CompiledSecurity,
  caller: CredentialSource,
  record?: RealmRecord,
): FoundCredentials =>
  findCredentials(
    security,
    (name) => valuesOf(caller.request.rawHeaders, name),
    (name) => record !== undefined && hasSignature(record, name, caller),
  )
