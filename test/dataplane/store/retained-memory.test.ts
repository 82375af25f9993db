// Bounds what documents retain, in bytes: with a wide margin, as the heap is never the same twice. They are measured in a
// process of their own: in this one, what earlier files have left goes at any moment.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { execPath } from 'node:process'
import { promisify } from 'node:util'
import { expect, it } from '@jest/globals'
import { programEnvironment } from '../../support/program-environment.ts'
import type { RetainedBytes } from './retained-memory-program.ts'

const DOCUMENTS = 200
const PATHS = 20

const runProgram = async (name: string, ...counts: readonly number[]): Promise<unknown> => {
  const program = join(import.meta.dirname, name)
  const { stdout } = await promisify(execFile)(
    execPath,
    ['--expose-gc', program, ...counts.map(String)],
    { env: programEnvironment() },
  )
  return JSON.parse(stdout)
}

it('an idle document of 20 paths serves from 8 KB at most, an operation in use from 1.2 KB', async () => {
  const measured = await runProgram('retained-memory-program.ts', DOCUMENTS, PATHS)
  const { loaded, used } = measured as RetainedBytes
  expect(loaded / DOCUMENTS).toBeLessThan(8000)
  expect(used / (DOCUMENTS * PATHS)).toBeLessThan(1200)
  // And so that it can fail: both are measured.
  expect(loaded).toBeGreaterThan(DOCUMENTS * 1000)
  expect(used).toBeGreaterThan(DOCUMENTS * PATHS * 300)
})

it('a document of one path takes 3.5 KB at most, with all that the store keeps of it', async () => {
  const count = 2000
  const measured = await runProgram('retained-store-program.ts', count)
  const { loaded } = measured as Pick<RetainedBytes, 'loaded'>
  expect(loaded / count).toBeLessThan(3500)
  expect(loaded / count).toBeGreaterThan(1000)
})
