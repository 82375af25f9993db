// Builds what `on_error` reads of a failed action, and the status of its response (behaviour §4, §5).

import type { StatusCodes } from '../../language/compile/compiled.ts'
import type { ValueMap } from '../../language/expression/value.ts'
import { upstreamUri } from '../actions/failure.ts'
import type { ActionError } from '../actions/performer.ts'

/** Builds `action.error`, with the status from the document's table. */
export const viewError = (
  failure: ActionError,
  codes: StatusCodes,
): { readonly error: ValueMap; readonly status: number } => {
  const status = statusOfError(failure, codes)
  return { error: { ...failure, status_code: status }, status }
}

/** The status that a client gets of an upstream's error: the document may map it. */
export const statusOfUpstream = (status: number, codes: StatusCodes): number => {
  const uri = upstreamUri(status)
  return (Object.hasOwn(codes, uri) ? codes[uri] : undefined) ?? status
}

/** The upstream's own status, otherwise the one of the error URI in the document's table, otherwise 500. */
const statusOfError = (
  error: Pick<ActionError, 'error_uri' | 'status_code'>,
  codes: StatusCodes,
): number => {
  if (error.error_uri.startsWith('svc.error.upstream.')) return error.status_code
  const mapped = Object.hasOwn(codes, error.error_uri) ? codes[error.error_uri] : undefined
  return mapped ?? 500
}
