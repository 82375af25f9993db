// Describes for a person a call to a data plane that gave no value.

import type { ManagementResponse } from '../management-client.ts'

/** @example describeResponse({ result: 'not_modified' }) // 'it answered 304' */
export const describeResponse = (
  response: Exclude<ManagementResponse<unknown>, { readonly result: 'ok' }>,
): string => {
  if (response.result === 'failed') return response.message
  if (response.result === 'not_modified') return 'it answered 304'
  const { code, message } = response.refusal
  return `it answered ${response.status} ${[code, message].filter(Boolean).join(': ')}`.trim()
}
