// Recognises the gateway's own cookies (tickets, CSRF values, logins in progress), which upstreams and documents can
// neither read nor set.

/** @param pair one `name=value` of a Cookie header */
export const isOwnCookie = (pair: string): boolean =>
  /^\s*(?:svc_ticket_|svc_csrf_|__Host-svc_oidc_)/.test(pair)

/**
 * Whether one Set-Cookie value sets such a cookie. Browsers cut blanks, some cut control characters; and a cookie
 * without a name is sent back as its bare value (RFC 6265bis §5.7), so that `=svc_ticket_x=y` would be a ticket.
 */
export const setsOwnCookie = (line: string): boolean =>
  /^[\s\p{Cc}=]*(?:svc_ticket_|svc_csrf_|__Host-svc_oidc_)/u.test(line)
