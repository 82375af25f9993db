// Sends requests to a provider: where the destination guard allows, trusting the CA of the entry, each within five
// seconds and a mebibyte (behaviour §6, *Callback*).

import type { CustomFetch } from 'openid-client'
import type { OidcProviderRecord } from '../../../language/realm/record.ts'
import type { FetchLimits, GuardedFetch } from '../../upstream/destinations/guarded-fetch.ts'

export const CALL_TIMEOUT_MS = 5000
const MAX_BYTES = 1024 * 1024

/** In the form that openid-client expects. */
export const throughGuard =
  (record: OidcProviderRecord, fetch: GuardedFetch): CustomFetch =>
  (url, { method, headers, body, signal }) =>
    fetch(
      url,
      {
        method,
        headers,
        ...(body instanceof URLSearchParams && { body: body.toString() }),
        ...(typeof body === 'string' && { body }),
        ...(signal && { signal }),
      },
      limitsOf(record),
    )

const limitsOf = (record: OidcProviderRecord): FetchLimits => ({
  timeoutMs: CALL_TIMEOUT_MS,
  maxBytes: MAX_BYTES,
  ...(record.ca !== undefined && { ca: record.ca }),
})
