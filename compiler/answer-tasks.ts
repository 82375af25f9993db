// The other side of `CompileThread`: tasks that come to this worker thread are compiled, and their results sent back.

import { parentPort, workerData } from 'node:worker_threads'
import type { CompileTask, CompileWork } from './task.ts'

/** What `work` throws is a bug: it ends the thread, and the one that waits is told of it. */
export const answerTasks = <R>(work: CompileWork<R>): void => {
  if (parentPort === null) throw new Error('this file is started as a worker thread')
  const port = parentPort
  const bounds = workerData as Parameters<typeof work>[1]
  port.on('message', (task: CompileTask) => {
    port.postMessage(work(task, bounds))
  })
}
