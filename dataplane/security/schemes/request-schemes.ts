// Finds the schemes of a Security Object that a request has credentials for.

import type { CompiledSecurity } from '../../../language/compile/security.ts'
import { findCredentials, type FoundCredentials } from '../../../language/request-credentials.ts'
import { valuesOf } from '../../upstream/headers.ts'

/** @param rawHeaders in the form of `IncomingMessage.rawHeaders` */
export const schemesOfRequest = (
  security: CompiledSecurity,
  rawHeaders: readonly string[],
): FoundCredentials => findCredentials(security, (name) => valuesOf(rawHeaders, name))
