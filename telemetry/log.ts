// Writes messages with fields as JSON lines, one object a line, and masks secrets. Never throws into its caller and
// never writes a secret that stands under a known name.

import { destination as openDestination, pino, stdTimeFunctions, type Logger } from 'pino'
import { redactFields } from './redact.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

/** Fields are data for machines; `message` is one sentence for people, without values in it. */
export interface Log {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void
  info(message: string, fields?: Readonly<Record<string, unknown>>): void
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void
  error(message: string, fields?: Readonly<Record<string, unknown>>): void
  /** A log whose every line carries `fields` too: `{requestId}`, `{worker}`. */
  child(fields: Readonly<Record<string, unknown>>): Log
}

export interface LogOptions {
  readonly level: LogLevel
  /** The name of the program: `svc-gateway`. */
  readonly name: string
  /** Where the lines go; stderr if left out, which leaves stdout to the first line and the access log. */
  readonly destination?: { write(line: string): void }
}

/**
 * Lines are `{"level","time","name",…fields,"msg"}`, time in ISO 8601. stderr is written synchronously: a
 * line logged right before the process ends is not lost. An error under any field becomes `{type, message,
 * code, cause}`; its stack follows only on `error` lines, or everywhere at level `debug`.
 * @example createLog({ level: 'info', name: 'svc-gateway' }).info('document loaded', { id: 'orders' })
 */
export const createLog = ({ level, name, destination }: LogOptions): Log => {
  const logger = pino(
    {
      level,
      base: { name },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination ?? openDestination({ dest: 2, sync: true }),
  )
  return wrap(logger)
}

/** Says on stdout, whatever the level of the log, that a program is at work: other programs wait for this line. */
export const logFirstLine = (
  name: string,
  message: string,
  facts: Readonly<Record<string, unknown>>,
): void => {
  createLog({ level: 'info', name, destination: process.stdout }).info(message, facts)
}

/** Accepts everything and writes nothing: for tests, and for commands that speak for themselves. */
export const createSilentLog = (): Log => ({
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: createSilentLog,
})

const wrap = (logger: Logger): Log => {
  const stacks = logger.isLevelEnabled('debug')
  const line =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, fields?: Readonly<Record<string, unknown>>): void => {
      if (!logger.isLevelEnabled(level)) return
      if (fields === undefined) logger[level](message)
      else logger[level](redactFields(fields, stacks || level === 'error'), message)
    }
  return {
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    child: (fields) => wrap(logger.child(redactFields(fields, false))),
  }
}
