// Reads origins of browsers (RFC 6454 §6) and patterns of them, and compares them as URLs: scheme, host and port, never
// as texts with a common ending.

/** An origin, or all whose host has one or more labels in front of `host`. */
export interface OriginPattern {
  /** `https`, lower case. */
  readonly scheme: string
  /** Lower case, as browsers write it (punycode). */
  readonly host: string
  /** Empty: the one of the scheme. */
  readonly port: string
  readonly isWildcard: boolean
}

/** Browsers send no longer ones: a host has at most 253 characters. */
const LONGEST = 300

const ORIGIN = /^([a-z][a-z0-9+.-]*):\/\/([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/i

/** undefined: it is no origin with a host, such as `null`, or has a path, a user or a blank. */
const parseOrigin = (text: string): OriginPattern | undefined => {
  const [, scheme = '', host = '', port = ''] = ORIGIN.exec(text.slice(0, LONGEST + 1)) ?? []
  if (host === '' || text.length > LONGEST || !URL.canParse(text)) return undefined
  const url = new URL(text)
  // Only schemes of the web have hosts that are normalised, and ports of their own.
  const isWeb = url.origin !== 'null'
  return {
    scheme: scheme.toLowerCase(),
    host: isWeb ? url.hostname : host.toLowerCase(),
    port: isWeb ? url.port : port,
    isWildcard: false,
  }
}

/**
 * An origin, or `https://*.example.com`: one or more labels, and at least two behind them.
 * @returns a message: what is wrong with it
 */
export const parseOriginPattern = (text: string): OriginPattern | string => {
  if (text === 'null')
    return 'null is the origin of every sandboxed page and local file: it can be no origin that is trusted'
  const parts = WILDCARD.exec(text)
  if (parts === null) return text.includes('*') ? NO_WILDCARD : (parseOrigin(text) ?? NO_ORIGIN)
  const [, scheme = '', rest = ''] = parts
  const origin = parseOrigin(`${scheme}${rest}`)
  if (origin === undefined || rest.includes('*')) return NO_WILDCARD
  const labels = origin.host.split('.')
  return labels.length < 2 || labels.includes('')
    ? 'at least two labels stand behind *., as in https://*.example.com'
    : { ...origin, isWildcard: true }
}

const WILDCARD = /^([a-z][a-z0-9+.-]*:\/\/)\*\.(.*)$/i

const NO_WILDCARD =
  "'*' stands for the first labels of a host only, as in https://*.example.com, or alone for every origin"

const NO_ORIGIN =
  'this is no origin: write scheme, host and, if need be, port, as in https://app.example.com:8443, without a slash at the end; letters beyond ASCII as xn--'

/** Whether an origin that a browser has sent is one of those. */
export const isOneOf = (patterns: readonly OriginPattern[], sent: string): boolean => {
  const origin = parseOrigin(sent)
  return origin !== undefined && patterns.some((pattern) => fits(pattern, origin))
}

const fits = (pattern: OriginPattern, { scheme, host, port }: OriginPattern): boolean => {
  if (pattern.scheme !== scheme || pattern.port !== port) return false
  if (!pattern.isWildcard) return pattern.host === host
  if (!host.endsWith(`.${pattern.host}`)) return false
  const before = host.slice(0, -pattern.host.length - 1)
  return before.split('.').every((label) => label !== '')
}

/** As documents write it. */
export const writeOrigin = ({ scheme, host, port, isWildcard }: OriginPattern): string =>
  `${scheme}://${isWildcard ? '*.' : ''}${host}${port === '' ? '' : `:${port}`}`
