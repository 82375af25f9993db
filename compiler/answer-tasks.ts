// Compiles the tasks that a worker thread receives from `CompileThread` and sends the results back.

import { parentPort, workerData } from 'node:worker_threads'
import type { CompileTask, CompileWork } from './task.ts'

/** An error thrown by `work` is a bug: it ends the thread, and the caller that waits gets it. */
export const answerTasks = <R>(work: CompileWork<R>): void => {
  if (parentPort === null) throw new Error('this file is started as a worker thread')
  const port = parentPort
  const bounds = workerData as Parameters<typeof work>[1]
  port.on('message', (task: CompileTask) => {
    port.postMessage(work(task, bounds))
  })
}
