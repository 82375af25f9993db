// Reads every request that the comments of the examples say to send, in order, and sends them by a real shell. Where a
// machine has no curl there is nothing to send with: none go out then.

import { execFile, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { env } from 'node:process'
import { promisify } from 'node:util'
import { readTries } from '../../dev/manifest-tries.ts'

export const EXAMPLES: string = join(import.meta.dirname, '../../examples')

export interface TryLine {
  readonly file: string
  readonly command: string
  readonly expected: string
}

export const exampleFiles = (): readonly string[] =>
  readdirSync(EXAMPLES).filter((name) => name.endsWith('.yaml'))

export const tryLinesOf = (file: string): readonly TryLine[] =>
  readTries(readFileSync(join(EXAMPLES, file), 'utf8')).tries.map((each) => ({ file, ...each }))

/** With REQUIRE_REAL=1 a machine without curl fails instead. */
export const canSend = (): boolean =>
  env['REQUIRE_REAL'] === '1' || spawnSync('curl', ['--version']).status === 0

export interface ReceivedResponse {
  readonly status: number
  /** Head and body as they came; what is no text is shown as latin-1. */
  readonly text: string
}

/** @param command its last curl has -i; with -N it may end by its own --max-time, as a stream does */
export const send = async (command: string): Promise<ReceivedResponse> => {
  const line = command.replaceAll('curl ', 'curl --silent --show-error --max-time 10 ')
  const { stdout } = await run('sh', ['-c', line], { encoding: 'latin1' }).catch(
    (error: unknown) => {
      if (/ -i?N /.test(command) && isStreamThatTimedOut(error)) return error
      throw error
    },
  )
  const status = /^HTTP\/1\.1 (\d{3})/.exec(stdout)?.[1]
  return { status: Number(status), text: stdout }
}

const run = promisify(execFile)

/** `CURLE_OPERATION_TIMEDOUT`. Jest's `Error` is not that of `child_process`. */
const isStreamThatTimedOut = (error: unknown): error is { readonly stdout: string } =>
  typeof error === 'object' &&
  error !== null &&
  'code' in error &&
  error.code === 28 &&
  'stdout' in error

/** Status, and the parts of the response in their order. */
export const holds = ({ status, text }: ReceivedResponse, expected: string): boolean => {
  const [wanted = '', ...parts] = expected.split(' … ')
  let from = 0
  return (
    status === Number(wanted) &&
    parts.every((part) => {
      const at = text.indexOf(part, from)
      from = at + part.length
      return at !== -1
    })
  )
}
