// Converts the `uri` of a response to the value of its Location header (RFC 9110 §10.2.2).

// RFC 3986 §2; also a percent sign that begins no escape.
const UNFIT = /%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]+/gu

/**
 * Percent-encodes characters that a URI may not contain; escapes stay as they are.
 * @example toLocation('/a b/%2F/é') // '/a%20b/%2F/%C3%A9'
 */
export const toLocation = (uri: string): string =>
  uri.toWellFormed().replace(UNFIT, encodeURIComponent)
