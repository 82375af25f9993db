// Ends a program that `svc serve` has started when that is gone, however it ended: its end of the pipe closes. Loaded
// before the program.

import cluster from 'node:cluster'
import { isMainThread } from 'node:worker_threads'

if (isMainThread && cluster.isPrimary) {
  const { stdin } = process
  stdin.resume().on('close', () => {
    process.kill(process.pid, 'SIGTERM')
  })
  // It keeps nothing running.
  if ('unref' in stdin) stdin.unref()
}
