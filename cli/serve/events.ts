// Describes a line that the gateway or the operator printed as a person wants to see it: routine is left out, the rest
// is one short line.

import { parseJson } from '../../base/parse-json.ts'

/**
 * @param now for lines that carry no time
 * @returns undefined where there is nothing worth a look
 * @example describeEvent('gateway', '{"level":"info","msg":"entry loaded","id":"a"}', new Date()) // '12:00:00  gateway   entry loaded  id=a'
 */
export const describeEvent = (program: string, line: string, now: Date): string | undefined => {
  const record = parseRecord(line)
  const words = record === undefined ? line.trimEnd() : wordsOf(record)
  if (words === undefined || words === '' || ROUTINE_LINES.test(words)) return undefined
  return `${now.toTimeString().slice(0, 8)}  ${program.padEnd(8)}  ${words}`
}

type LogRecord = Readonly<Record<string, unknown>>

const parseRecord = (line: string): LogRecord | undefined => {
  if (!line.startsWith('{')) return undefined
  try {
    const value: unknown = parseJson(line)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}

/** Fields that each line of a log carries, or that only machines count. */
const ROUTINE_FIELDS: ReadonlySet<string> = new Set(['level', 'time', 'name', 'msg', 'audit'])
const ROUTINE_MESSAGES: ReadonlySet<unknown> = new Set([
  'desired state has changed',
  'data plane is complete',
  'data plane has processed a batch',
])

/** On the way to Ready; and the summary of problems that follow one by one, with file and pointer. */
const ROUTINE_LINES = /Ready=False {2}(?:Pending|Invalid) /

const wordsOf = (record: LogRecord): string | undefined => {
  if (typeof record['status'] === 'number' && record['msg'] === undefined)
    return wordsOfRequest(record, record['status'])
  if (record['level'] === 'debug' || ROUTINE_MESSAGES.has(record['msg'])) return undefined
  if (record['phase'] === 'synced') return undefined
  const level = record['level'] === 'info' ? '' : `${String(record['level'])}: `
  return [`${level}${String(record['msg'])}`, ...fieldsOf(record, ROUTINE_FIELDS)].join('  ')
}

/** The fields of a line of the access log that are left out: what the words before them say, or what is of no use here. */
const REQUEST_FIELDS: ReadonlySet<string> = new Set(
  'time id peername host method path status ms bytes version trace'.split(' '),
)

/** The client did not wait for the response, as when a page with a stream is closed. */
const CLIENT_WENT_AWAY = 499

/** Browsers ask for it on their own. */
const FAVICON = '/favicon.ico'

/** Requests that failed, with every field that tells why. */
const wordsOfRequest = (record: LogRecord, status: number): string | undefined => {
  const isRoutine = status < 400 || status === CLIENT_WENT_AWAY || record['path'] === FAVICON
  if (isRoutine) return undefined
  const request = `${String(record['method'])} ${String(record['path'])} -> ${status}`
  const why =
    status === 404 && record['api'] === '' ? ['no document serves this host and path'] : []
  return [request, ...why, ...fieldsOf(record, REQUEST_FIELDS)].join('  ')
}

const fieldsOf = (record: LogRecord, routine: ReadonlySet<string>): readonly string[] =>
  Object.entries(record)
    .filter(([name, value]) => !routine.has(name) && value !== '')
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
