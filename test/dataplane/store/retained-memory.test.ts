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
const PROGRAM = join(import.meta.dirname, 'retained-memory-program.ts')

it('an idle document of 20 paths serves from 25 KB at most, an operation in use from 2 KB', async () => {
  const counts = [DOCUMENTS, PATHS].map(String)
  const { stdout } = await promisify(execFile)(execPath, ['--expose-gc', PROGRAM, ...counts], {
    env: programEnvironment(),
  })
  const { loaded, used } = JSON.parse(stdout) as RetainedBytes
  expect(loaded / DOCUMENTS).toBeLessThan(20_000)
  expect(used / (DOCUMENTS * PATHS)).toBeLessThan(1200)
  // And so that it can fail: both are measured.
  expect(loaded).toBeGreaterThan(DOCUMENTS * 1000)
  expect(used).toBeGreaterThan(DOCUMENTS * PATHS * 300)
})
