// The `uri` of a response in, the value of its Location header out (RFC 9110 §10.2.2).

// RFC 3986 §2; a percent sign that begins no escape is one of them.
const UNFIT = /%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]+/gu

/**
 * Characters that may not stand in a URI are percent-encoded, escapes stay as they are.
 * @example toLocation('/a b/%2F/é') // '/a%20b/%2F/%C3%A9'
 */
export const toLocation = (uri: string): string =>
  uri.toWellFormed().replace(UNFIT, encodeURIComponent)
