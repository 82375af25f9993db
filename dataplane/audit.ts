// Writes the audit log: one JSON line for each security event, with who did what and how it ended. It never writes a
// secret, a token or a password, nor a name that no user has; what is logged is cut to 200 characters.

import type { SchemeName } from '../language/compile/security.ts'
import type { Log } from '../telemetry/log.ts'

export interface AuditEvent {
  readonly event: 'login' | 'logout' | 'authentication' | 'token' | 'revocation'
  readonly outcome: 'success' | 'failure'
  /** Closed vocabulary of each room: `wrong_password`, `state_expired`, `refresh_reuse`, … `""` on success. */
  readonly reason: string
  readonly realm: string
  /** `none`: the request was refused before any credentials were looked at. */
  readonly scheme: SchemeName | 'none'
  /** As far as it is known. */
  readonly authid?: string
  readonly clientId?: string
  readonly provider?: string
  /** What a known caller who is refused lacks: `one of groups: staff; scopes: orders.write`, from the document. */
  readonly missing?: string
  /** The claim of a refused token that is wrong, or the member of its header, and what would have counted. */
  readonly claim?: string
  readonly expected?: string
  readonly address: string
  readonly requestId: string
  /** How many of the same there were within a minute, where they are not reported one by one. */
  readonly count?: string
}

export type Audit = (event: AuditEvent) => void

/** Characters of a value. */
export const MAX_TEXT = 200

/** Lines `{"level":"info","audit":true,"event":"login",…}` on the program's log. */
export const createAudit =
  (log: Log): Audit =>
  (event) => {
    const fields: Record<string, unknown> = { audit: true }
    for (const [key, value] of Object.entries<string>({ ...event }))
      fields[key] = value.slice(0, MAX_TEXT)
    log.info('audit', fields)
  }
