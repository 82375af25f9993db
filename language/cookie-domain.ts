// Checks whether a text may stand behind `Domain=` of a cookie.

/** A host name; a leading dot is allowed (RFC 6265 §5.2.3). */
export const isCookieDomain = (text: string): boolean => text.length <= 253 && DOMAIN.test(text)

const DOMAIN = /^\.?[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/
