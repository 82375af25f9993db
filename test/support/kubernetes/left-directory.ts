// Removes a directory once the process that named it has ended, in whatever way.

import { spawn } from 'node:child_process'

/** It reads a pipe whose other end we hold. Servers that wrote there are killed by then, a moment ago. */
const WAIT_AND_REMOVE = 'read -r _; sleep 1; exec rm -rf -- "$0"'

/** @returns what calls it off, when the directory has been removed in order */
export const removeWhenLeft = (directory: string): (() => void) => {
  const waiting = spawn('sh', ['-c', WAIT_AND_REMOVE, directory], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  waiting.unref()
  return () => {
    waiting.kill('SIGKILL')
  }
}
