// What `on_error` sees of a failed action, and the status that goes with it (behaviour §4, §5). Pure.

import type { StatusCodes } from '../../language/compiled.ts'
import type { ValueMap } from '../../language/expression/value.ts'
import type { ActionError } from '../actions/performer.ts'

/** `action.error`, with the status that the document's table gives it. */
export const viewError = (
  { message, ...visible }: ActionError,
  codes: StatusCodes,
): { readonly error: ValueMap; readonly message: string; readonly status: number } => {
  const status = statusOfError(visible, codes)
  return { error: { ...visible, status_code: status }, message, status }
}

/** The upstream's own status, else what the document's table says of the error URI, else 500. */
const statusOfError = (
  error: Pick<ActionError, 'error_uri' | 'status_code'>,
  codes: StatusCodes,
): number => {
  if (error.error_uri.startsWith('svc.error.upstream.')) return error.status_code
  const mapped = Object.hasOwn(codes, error.error_uri) ? codes[error.error_uri] : undefined
  return mapped ?? 500
}
