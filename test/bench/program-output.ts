// Runs one of `programs/` to its end on the server's core, and returns the JSON that it printed.

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Machine } from './machine.ts'

const run = promisify(execFile)

/** @throws Error with what it wrote to stderr */
export const runProgram = async (
  machine: Machine,
  file: string,
  ...args: readonly number[]
): Promise<unknown> => {
  const path = fileURLToPath(new URL(`programs/${file}`, import.meta.url))
  const line = machine.pin('server', [process.execPath, path, ...args.map(String)])
  const [program = '', ...rest] = line
  const { stdout } = await run(program, rest)
  return JSON.parse(stdout)
}
