// Work for a compiler that does what the document says, in place or in a thread: what a compiler with a bug might do.

import { pbkdf2Sync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { threadId } from 'node:worker_threads'
import type { BoundedCompilerOptions } from '../../compiler/bounded-compiler.ts'
import type { CompileTask } from '../../compiler/task.ts'
import { isMap } from '../../language/expression/value.ts'

export interface Done {
  readonly did: string
  readonly thread: number
}

export const doAsTold = ({ document }: CompileTask, { maxRoutes }: { maxRoutes: number }): Done => {
  const told = isMap(document) && typeof document['do'] === 'string' ? document['do'] : ''
  if (told === 'loop') for (;;);
  if (told.startsWith('hang ')) {
    writeFileSync(told.slice('hang '.length), '')
    // Some seconds in native code, which nothing stops.
    pbkdf2Sync('a', 'b', 8_000_000, 32, 'sha256')
  }
  if (told === 'fill') {
    const held: unknown[] = []
    for (;;) held.push({ at: held.length, more: {} })
  }
  if (told === 'throw') throw new Error('a bug')
  return { did: `${told} within ${maxRoutes}`, thread: threadId }
}

/** More than is compiled in place. */
const PADDING = 'x'.repeat(65 * 1024)

export const large = (told: string): { readonly do: string; readonly padding: string } => ({
  do: told,
  padding: PADDING,
})

export const refuse: BoundedCompilerOptions<Done>['refuse'] = ({ code, message }) => ({
  did: `${code}: ${message}`,
  thread: -1,
})
