// Formats the address of a router for people to read, without secrets. Gateways report their sessions with it, and the
// operator finds the address in the Realm by it.

/**
 * Scheme, host, port and path.
 * @example displayUrl('wss://me:secret@router.test/ws?token=1') // 'wss://router.test/ws'
 */
export const displayUrl = (url: string): string => {
  if (!URL.canParse(url)) return 'an invalid URL'
  const parsed = new URL(url)
  parsed.username = ''
  parsed.password = ''
  parsed.search = ''
  parsed.hash = ''
  return parsed.href
}
