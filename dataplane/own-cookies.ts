// Recognises the gateway's own cookies (tickets, CSRF values, logins in progress), which upstreams and documents can
// neither read nor set.

/**
 * What a Cookie header has besides them, byte for byte; undefined if that is nothing.
 * @example withoutOwnCookies('a=1; svc_csrf_x=2; b=3') // 'a=1; b=3'
 */
export const withoutOwnCookies = (value: string): string | undefined => {
  if (!value.includes('svc_')) return value
  const pairs = value.split(';')
  if (!pairs.some(isOwnCookie)) return value
  const others = pairs.filter((pair) => pair.trim() !== '' && !isOwnCookie(pair))
  if (others.length === 0) return undefined
  const rest = others.join(';')
  // The blank behind the semicolon that went.
  return others[0] === pairs[0] ? rest : rest.trimStart()
}

/** @param pair one `name=value` of a Cookie header */
const isOwnCookie = (pair: string): boolean =>
  /^\s*(?:svc_ticket_|svc_csrf_|__Host-svc_oidc_)/.test(pair)

/**
 * Whether one Set-Cookie value sets such a cookie. Browsers cut blanks, some cut control characters; and a cookie
 * without a name is sent back as its bare value (RFC 6265bis §5.7), so that `=svc_ticket_x=y` would be a ticket.
 */
export const setsOwnCookie = (line: string): boolean =>
  /^[\s\p{Cc}=]*(?:svc_ticket_|svc_csrf_|__Host-svc_oidc_)/u.test(line)
