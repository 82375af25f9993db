// Runs `svc validate examples`, and returns its exit code and output.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { programEnvironment } from '../support/program-environment.ts'
import { EXAMPLES } from './try-lines.ts'

export interface Validation {
  readonly exitCode: unknown
  readonly diagnostics: string
}

const SVC = join(import.meta.dirname, '../../cli/main.ts')

export const runValidateOnExamples = async (): Promise<Validation> => {
  const child = spawn(process.execPath, [SVC, 'validate', EXAMPLES], {
    env: programEnvironment(),
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [diagnostics, [exitCode]] = await Promise.all([
    text(child.stdout),
    once(child, 'close') as Promise<unknown[]>,
  ])
  return { exitCode, diagnostics }
}
