// Parses host patterns of documents (§2.1, behaviour §3) and says what is wrong with invalid ones. Never throws,
// whatever was written.

/**
 * Labels left to right, lower case; `null` is one label of any name, bound when it was written with a
 * name (`:tenant` → `bindings[i] = 'tenant'`). `tail` true: any number of leading labels before them
 * (`[...]`). `_` alone is `{labels: [], bindings: [], tail: true}`.
 */
export interface HostPattern {
  readonly labels: readonly (string | null)[]
  readonly bindings: readonly (string | null)[]
  readonly tail: boolean
}

export type ParsedHost =
  | { readonly ok: true; readonly hosts: readonly HostPattern[] }
  | { readonly ok: false; readonly message: string }

const MAX_LENGTH = 512
const MAX_HOSTS = 16
const TAIL = '[...]'
/** `_`, `:_.:_` and so on: it has no name that its owner could vouch for, and clients choose what it matches. */
export const isNameless = ({ labels }: HostPattern): boolean =>
  labels.every((label) => label === null)

const ALL: HostPattern = { labels: [], bindings: [], tail: true }

/**
 * The hosts that a document's `host` stands for: one, or one for each way to leave out optional labels.
 * An IPv4 address is four labels, an IPv6 address in brackets one, in its canonical form (RFC 5952).
 * @example parseHost('[www.]acme.com') // the hosts www.acme.com and acme.com
 */
export function parseHost(source: string): ParsedHost {
  const problem = textProblem(source)
  if (problem !== undefined) return invalid(source, problem)
  const text = withoutOuterDots(source)
  if (text === '_') return { ok: true, hosts: [ALL] }
  if (isBracketedAddress(text)) return parseIpv6(source, text)
  const tail = text.startsWith(TAIL)
  const rest = tail ? text.slice(TAIL.length).replace(/^\./, '') : text
  if (tail && rest === '') return { ok: true, hosts: [ALL] }
  const written = expandBrackets(rest)
  if (typeof written === 'string') return invalid(source, written)
  return parseHosts(source, written, tail)
}

/**
 * The key that two patterns share when only the names of their bindings differ.
 * @example hostKey(…':tenant.acme.com') // ':.acme.com'
 */
export function hostKey(pattern: HostPattern): string {
  if (pattern.tail && pattern.labels.length === 0) return '_'
  const labels = pattern.labels.map((label) => label ?? ':').join('.')
  return pattern.tail ? TAIL + labels : labels
}

/**
 * The canonical spelling of a bracketed IPv6 address (RFC 5952), or undefined when it is invalid.
 * @example canonicalIpv6('[0:0::0:1]') // '[::1]'
 */
export function canonicalIpv6(text: string): string | undefined {
  if (!/^\[[0-9a-f:.]+\]$/i.test(text)) return undefined
  const url = `http://${text}/`
  return URL.canParse(url) ? new URL(url).hostname : undefined
}

function textProblem(source: string): string | undefined {
  if (source === '') return "it is empty; '_' stands for every host"
  if (source.length > MAX_LENGTH) return `it is longer than ${MAX_LENGTH} characters`
  if (/\s/.test(source)) return 'it contains blanks'
  if (source.includes('://')) return "it is a host, not a URL: leave out the scheme ('https://')"
  if (source.includes('/')) return 'it is a host alone: the path belongs into base_path'
  if (source.includes('*'))
    return "write ':_' for any one label, '[...]' for any number of leading labels"
  if (/^[0-9a-f]*:[0-9a-f]*:/i.test(source)) return "an IPv6 address stands in brackets: '[::1]'"
  if (/[^\].:]:\d*$|^\[[^\]]*:[^\]]*\]:\d*$/.test(source))
    return 'ports play no part in routing: leave out the port'
  if (/[^\x21-\x7e]/.test(source)) return "write a name outside ASCII in its 'xn--' form"
  return undefined
}

/** One leading and one trailing dot are ignored: three forms of one host (§2.1). */
const withoutOuterDots = (text: string): string => text.replace(/^\./, '').replace(/\.$/, '')

const isBracketedAddress = (text: string): boolean =>
  /^\[[0-9a-f:.]+\]$/i.test(text) && text.indexOf(':') !== text.lastIndexOf(':')

function parseIpv6(source: string, text: string): ParsedHost {
  const address = canonicalIpv6(text)
  if (address === undefined) return invalid(source, 'it is no IPv6 address')
  return { ok: true, hosts: [{ labels: [address], bindings: [null], tail: false }] }
}

/** Every text that remains when each bracket is taken or left out; or what is wrong with the brackets. */
function expandBrackets(text: string): readonly string[] | string {
  const done: string[] = []
  const open = [text]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const taken = expandFirst(next)
    if (typeof taken === 'string') return taken
    if (taken.length === 1) done.push(next)
    else open.push(...taken)
    if (done.length + open.length > MAX_HOSTS) return `it stands for more than ${MAX_HOSTS} hosts`
  }
  return [...new Set(done)]
}

/** The text itself when it has no bracket; else the text without its first bracket, and with it. */
function expandFirst(text: string): readonly string[] | string {
  const from = text.indexOf('[')
  if (from === -1) return text.includes(']') ? "a ']' closes nothing" : [text]
  if (text.lastIndexOf(']', from) !== -1) return "a ']' closes nothing"
  const to = closingOf(text, from)
  if (to === -1) return "a '[' is not closed"
  const inner = text.slice(from + 1, to)
  if (inner === '...') return "'[...]' stands only at the beginning"
  if (!/\.\]*$/.test(inner) || (from > 0 && text.charAt(from - 1) !== '.')) {
    return "brackets hold whole labels with their dot: '[www.]acme.com'"
  }
  const head = text.slice(0, from)
  const rest = text.slice(to + 1)
  return [head + rest, head + inner + rest]
}

function closingOf(text: string, from: number): number {
  let depth = 0
  for (let at = from; at < text.length; at += 1) {
    if (text.charAt(at) === '[') depth += 1
    if (text.charAt(at) === ']') depth -= 1
    if (depth === 0) return at
  }
  return -1
}

function parseHosts(source: string, written: readonly string[], tail: boolean): ParsedHost {
  const hosts = new Map<string, HostPattern>()
  for (const text of written) {
    const host = parseLabels(text, tail)
    if (typeof host === 'string') return invalid(source, host)
    hosts.set(hostKey(host), host)
  }
  return { ok: true, hosts: [...hosts.values()] }
}

function parseLabels(text: string, tail: boolean): HostPattern | string {
  const labels: (string | null)[] = []
  const bindings: (string | null)[] = []
  for (const label of text.split('.')) {
    const name = bindingName(label)
    const problem = name === undefined ? labelProblem(label) : nameProblem(name, bindings)
    if (problem !== undefined) return problem
    labels.push(name === undefined ? label.toLowerCase() : null)
    bindings.push(name === undefined || name === '_' ? null : name)
  }
  const isUnbound = bindings.every((name) => name === null)
  // Lists that grew have room for 17: 250 bytes a host.
  return {
    labels: labels.slice(),
    bindings: isUnbound ? unbound(labels.length) : bindings.slice(),
    tail,
  }
}

const unboundLists: (readonly null[] | undefined)[] = []

/** One list for all hosts of so many labels; a host has 256 at most. */
const unbound = (length: number): readonly null[] =>
  (unboundLists[length] ??= new Array<null>(length).fill(null))

function bindingName(label: string): string | undefined {
  if (label === '_') return '_'
  return label.startsWith(':') ? label.slice(1) : undefined
}

function nameProblem(name: string, taken: readonly (string | null)[]): string | undefined {
  if (!/^[\w-]+$/.test(name)) {
    return `the binding ':${name}' needs a name of letters, digits, '_' and '-'`
  }
  return taken.includes(name) ? `the binding ':${name}' occurs twice; rename one` : undefined
}

function labelProblem(label: string): string | undefined {
  if (label === '') return "it has an empty label ('..')"
  if (label.length > 63) return 'a label is longer than 63 characters'
  if (label.startsWith('{{'))
    return 'it takes no expression: write it out, and let each environment replace it (Kustomize, Helm)'
  return /^[\w-]+$/.test(label)
    ? undefined
    : `'${label}' is no label: letters, digits, '-' and '_' only`
}

const invalid = (source: string, reason: string): ParsedHost => ({
  ok: false,
  message: `The host '${source.length > 80 ? `${source.slice(0, 80)}…` : source}' is invalid: ${reason}`,
})
