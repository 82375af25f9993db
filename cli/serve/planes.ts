// Starts a gateway and the operator that owns it, as two processes, and waits until what the operator has read is served.

import { withTimeout } from '../../base/timeout.ts'
import { parseJson } from '../../base/parse-json.ts'
import { type Program, startProgram } from './program.ts'
import { isSettled, readStatus, type StatusView } from './status-view.ts'

export interface GatewayUrls {
  readonly public: string
  readonly management: string
}

/** A program, and what it says once it listens. */
export interface Starting<T> {
  readonly program: Program
  /** @throws Error in words: it has ended instead, or takes a minute */
  readonly listening: Promise<T>
}

/** Lines of the programs, but for the one that says where each listens. */
export type OnLine = (program: string, line: string) => void

/** A program that ends earlier is noticed at once. */
const START_MS = 60_000
const POLL_MS = 50

export const startGateway = (flags: readonly string[], onLine: OnLine): Starting<GatewayUrls> =>
  start(
    { name: 'gateway', room: 'dataplane', flags, onLine },
    {
      message: 'listening',
      read: (said) => ({ public: String(said['public']), management: String(said['management']) }),
    },
  )

/** With the URL of its status; it has to have one. */
export const startOperator = (flags: readonly string[], onLine: OnLine): Starting<string> =>
  start(
    { name: 'operator', room: 'operator', flags, onLine },
    { message: 'operating', read: (said) => String(said['status']) },
  )

interface Greeting<T> {
  readonly message: string
  readonly read: (record: Readonly<Record<string, unknown>>) => T
}

interface Starter {
  readonly name: string
  readonly room: 'dataplane' | 'operator'
  readonly flags: readonly string[]
  readonly onLine: OnLine
}

const start = <T>({ onLine, ...options }: Starter, { message, read }: Greeting<T>): Starting<T> => {
  const { promise, resolve } = Promise.withResolvers<T>()
  const program = startProgram({
    ...options,
    onLine: (line) => {
      const said = saidWith(line, message)
      if (said === undefined) onLine(options.name, line)
      else resolve(read(said))
    },
  })
  return { program, listening: within(promise, program) }
}

/** The record that a line holds, where its message is this one. */
const saidWith = (line: string, message: string): Readonly<Record<string, unknown>> | undefined => {
  if (!line.startsWith('{') || !line.endsWith(`"msg":"${message}"}`)) return undefined
  const record = parseJson(line)
  return typeof record === 'object' && record !== null ? { ...record } : undefined
}

/**
 * Resolves when the gateway has what the operator has read.
 * @param url of the operator's status
 * @returns undefined: stopped before
 * @throws Error in words: the operator has ended, or takes a minute
 */
export const settled = (
  url: string,
  operator: Program,
  stopping: AbortSignal,
): Promise<StatusView | undefined> => within(settledStatus(url, stopping), operator)

const settledStatus = async (
  url: string,
  stopping: AbortSignal,
): Promise<StatusView | undefined> => {
  while (!stopping.aborted) {
    const status = await readStatus(url)
    if (status !== undefined && isSettled(status)) return status
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
  return undefined
}

/** For a person: a program that was to go on has ended. */
export const lastWords = async ({ name, ended }: Program): Promise<string> =>
  `the ${name} has ended: ${await ended}`

const within = async <T>(promise: Promise<T>, program: Program): Promise<T> => {
  const failed = lastWords(program).then((words): never => {
    throw new Error(words)
  })
  const onTimeout = (): never => {
    throw new Error(`the ${program.name} is not ready after ${START_MS / 1000} seconds`)
  }
  return await withTimeout(Promise.race([promise, failed]), { ms: START_MS, onTimeout })
}
