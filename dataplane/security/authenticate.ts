// Who may call: one authenticator per scheme, in one table. Fails closed: whoever can't be checked is
// refused with the scheme's challenge.

import type { CompiledSecurity } from '../../spec/compiled.ts'
import type { GatewayError } from '../gateway-error.ts'
import { unauthorized } from './challenge.ts'

/** The identity for `security` in expressions, or the refusal. */
export interface Authentication {
  readonly refusal: GatewayError | undefined
}

const ANONYMOUS: Authentication = { refusal: undefined }

/** No scheme has a way to show who somebody is yet: all but anonymous operations are refused. */
export const authenticate = (security: CompiledSecurity, realmUri: string): Authentication =>
  security.type === 'anonymous' ? ANONYMOUS : { refusal: unauthorized(security.type, realmUri) }
