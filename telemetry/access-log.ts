// Writes each finished request as one JSON line, in batches. Built by concatenation (0.5 µs). Logs the path alone: a
// query may carry codes, tokens and keys, so no part of it is ever written.

/** `off`, `on`, or the share of requests that are logged; 5xx responses are logged at any share above 0. */
export type AccessLogShare = number

export interface AccessEntry {
  /** Unix time when the request arrived, milliseconds. */
  readonly time: number
  readonly id: string
  readonly peername: string
  readonly method: string
  readonly host: string
  /** As it came; what follows a `?` is left out. */
  readonly target: string
  readonly status: number
  readonly seconds: number
  /** Bytes of the body that was written; -1 when not known. */
  readonly bytes: number
  /** The id of the matched document; empty when none matched. */
  readonly api: string
  readonly version: string
  /** The code of the error record, or the URI by which the action failed. */
  readonly code?: string | undefined
  /** Why it failed: one word of a closed list. */
  readonly reason?: string | undefined
  /** The claim of a refused token that is wrong, and what would have counted. */
  readonly claim?: string | undefined
  readonly expected?: string | undefined
  /** The origin of the upstream that failed: `http://host:port`. */
  readonly upstream?: string | undefined
  /** The id of its trace, where there is one. */
  readonly trace?: string | undefined
}

export interface AccessLog {
  write(entry: AccessEntry): void
  /** Writes the lines still buffered. Call it before the process ends. */
  flush(): void
}

export interface AccessLogOptions {
  /** Above 0, up to 1. */
  readonly share: AccessLogShare
  /** Takes whole lines, each with its end. */
  readonly sink: (lines: string) => void
  /** From 0 up to 1, exclusive. */
  readonly random?: () => number
  readonly flushAfterMs?: number
}

/**
 * The value of `--access-log`: `off` is 0, `on` is 1, a number between them is the share; else undefined.
 * @example parseAccessLogShare('0.01') // 0.01
 */
export const parseAccessLogShare = (text: string): AccessLogShare | undefined => {
  if (text === 'off') return 0
  if (text === 'on') return 1
  const share = /^(?:0(?:\.\d{1,9})?|1(?:\.0{1,9})?)$/.test(text) ? Number(text) : NaN
  return Number.isNaN(share) ? undefined : share
}

/** undefined for a share of 0: nothing to call on the hot path. */
export const createAccessLog = (options: AccessLogOptions): AccessLog | undefined => {
  const { share, sink, random = Math.random, flushAfterMs = 200 } = options
  if (share <= 0) return undefined
  let buffered = ''
  let timer: NodeJS.Timeout | undefined

  const flush = (): void => {
    clearTimeout(timer)
    timer = undefined
    if (buffered === '') return
    const lines = buffered
    buffered = ''
    sink(lines)
  }

  const write = (entry: AccessEntry): void => {
    if (share < 1 && entry.status < 500 && random() >= share) return
    const line = formatEntry(entry)
    if (buffered.length + line.length > ATOMIC_LENGTH) flush()
    buffered += line
    timer ??= setTimeout(flush, flushAfterMs).unref()
  }
  return { write, flush }
}

/** A pipe takes 4096 bytes as one (POSIX PIPE_BUF): lines of several processes do not mix. */
const ATOMIC_LENGTH = 4096

const MAX_TARGET = 2048

const formatEntry = (entry: AccessEntry): string =>
  `{"time":"${new Date(entry.time).toISOString()}","id":${JSON.stringify(entry.id)}` +
  `,"peername":${JSON.stringify(entry.peername)},"method":${JSON.stringify(entry.method)}` +
  `,"host":${JSON.stringify(entry.host)},"path":${JSON.stringify(pathOf(entry.target))}` +
  `,"status":${entry.status},"ms":${Math.round(entry.seconds * 1e5) / 100},"bytes":${entry.bytes}` +
  `,"api":${JSON.stringify(entry.api)},"version":${JSON.stringify(entry.version)}${member('code', entry.code)}${member('reason', entry.reason)}` +
  `${member('claim', entry.claim)}${member('expected', entry.expected)}${member('upstream', entry.upstream)}${member('trace', entry.trace)}}\n`

const member = (name: string, value: string | undefined): string =>
  value === undefined ? '' : `,"${name}":${JSON.stringify(value)}`

/** An authority behind any scheme (RFC 3986 §3.1) or behind none, well-formed or not: whatever could hold userinfo. */
const AUTHORITY = /^(?:[^/]*:\/\/[^/]*|[^/]*@)/

/**
 * The path of a request target, without its query, cut at 2048 characters. An absolute-form target may hold
 * userinfo before the host: only what follows the authority stays.
 */
export const pathOf = (target: string): string => {
  const query = target.indexOf('?')
  const whole = query === -1 ? target : target.slice(0, query)
  const path = whole.startsWith('/') ? whole : whole.replace(AUTHORITY, '')
  return path.length > MAX_TARGET ? `${path.slice(0, MAX_TARGET)}…` : path
}
