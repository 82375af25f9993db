// Defines why a Secret of certificates or keys is not written although the API server would take it.

import { CodedError } from '../../base/coded-error.ts'

/**
 * `foreign_secret`: it belongs to another operator, and must not be taken from it by accident. `not_leading`: this operator
 * leads no longer.
 */
export class CertificateError extends CodedError<'foreign_secret' | 'not_leading'> {}
