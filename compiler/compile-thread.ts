// Runs one worker thread that compiles one task at a time: starts it when there is work, ends it when it has been idle,
// and at once when a task takes more memory or time than allowed.

import { extname } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { Worker } from 'node:worker_threads'
import type { Clock } from '../base/clock.ts'
import { CodedError } from '../base/coded-error.ts'
import { withTimeout } from '../base/timeout.ts'
import type { CompileLimits } from './limits.ts'
import type { CompileTask } from './task.ts'

export interface CompileThreadOptions {
  /** File that calls `answerTasks`. */
  readonly entry: URL
  readonly limits: CompileLimits
  readonly timers: Pick<Clock, 'after'>
}

/**
 * `memory`, `time`: the task took more than it may, and the thread has ended. `closed`: the creator of the thread has
 * ended it. `overloaded`: too much waits already.
 */
export type CompilerErrorCode = 'memory' | 'time' | 'closed' | 'overloaded'

export class CompilerError extends CodedError<CompilerErrorCode> {
  constructor(code: CompilerErrorCode, cause?: unknown) {
    super(code, MESSAGES[code], cause === undefined ? undefined : { cause })
  }
}

const MESSAGES = {
  memory: 'compiling took too much memory',
  time: 'compiling took too much time',
  closed: 'the compiler is closed',
  overloaded: 'other large documents are being compiled',
} as const satisfies Record<CompilerErrorCode, string>

const IDLE_MS = 30_000
const END_MS = 10_000

/** For objects that were just created. */
const YOUNG_MB = 16

interface Running<R> {
  readonly worker: Worker
  readonly resolve: (result: R) => void
  readonly reject: (error: unknown) => void
}

export class CompileThread<R> {
  readonly #options: CompileThreadOptions
  #worker: Worker | undefined
  #running: Running<R> | undefined
  #cancelTimer: (() => void) | undefined
  /** The thread before this one is still being ended. */
  #ending: Promise<unknown> = Promise.resolve()
  #isClosed = false

  constructor(options: CompileThreadOptions) {
    this.#options = options
  }

  /**
   * Rejects with a CompilerError, or with what ended the thread otherwise. In both cases the thread goes.
   * Not to be called before the last result is there.
   * @param timeMs that it may take, the start of the thread included
   */
  async run(task: CompileTask, timeMs: number): Promise<R> {
    this.#cancelTimer?.()
    // There is never more than one thread.
    await this.#untilEnded()
    if (this.#isClosed) throw new CompilerError('closed')
    const worker = (this.#worker ??= this.#start())
    const { promise, resolve, reject } = Promise.withResolvers<R>()
    this.#running = { worker, resolve, reject }
    this.#cancelTimer = this.#options.timers.after(timeMs, () => {
      reject(new CompilerError('time'))
    })
    // A process that has nothing else to do waits for a result, but not for an idle thread.
    worker.ref()
    try {
      worker.postMessage(task)
      const result = await promise
      worker.unref()
      this.#rest()
      return result
    } catch (error) {
      // The caller need not wait for the thread to end; the next task does.
      this.#end()
      throw error
    }
  }

  /** For good: what runs rejects, and so does what comes later. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#end()
    await this.#untilEnded().catch(() => undefined)
  }

  #end(): void {
    this.#cancelTimer?.()
    const worker = this.#worker
    this.#worker = undefined
    this.#running?.reject(new CompilerError('closed'))
    this.#running = undefined
    if (worker !== undefined) this.#ending = worker.terminate()
  }

  /** V8 stops nearly everything, but not a few built-ins at the limit of the heap: the wait for these has an end. */
  async #untilEnded(): Promise<void> {
    await withTimeout<unknown>(this.#ending, {
      ms: END_MS,
      clock: this.#options.timers,
      onTimeout: () => {
        throw new Error('a thread that compiled does not end: restart this process')
      },
    })
  }

  #rest(): void {
    this.#running = undefined
    this.#cancelTimer?.()
    this.#cancelTimer = this.#options.timers.after(IDLE_MS, () => {
      this.#end()
    })
  }

  #start(): Worker {
    const { entry, limits } = this.#options
    // The process flag would otherwise apply to the thread too, instead of its own limit. The heap of the process is
    // already set up.
    setFlagsFromString('--max-old-space-size=0')
    const worker = new Worker(entry, {
      name: 'compile',
      resourceLimits: {
        maxOldGenerationSizeMb: limits.memoryMb,
        maxYoungGenerationSizeMb: YOUNG_MB,
      },
      workerData: { maxRoutes: limits.maxRoutes },
      // Nothing of the environment is needed, and it may hold secrets.
      env: {},
      execArgv: [],
    })
    worker.on('message', (result: R) => {
      this.#runningOn(worker)?.resolve(result)
    })
    worker.on('error', (error: unknown) => {
      this.#runningOn(worker)?.reject(
        isOutOfMemory(error) ? new CompilerError('memory', error) : error,
      )
    })
    worker.on('exit', () => {
      this.#runningOn(worker)?.reject(new Error('the thread that compiles ended by itself'))
      if (this.#worker === worker) this.#worker = undefined
    })
    return worker
  }

  #runningOn(worker: Worker): Running<R> | undefined {
    return this.#running?.worker === worker ? this.#running : undefined
  }
}

const isOutOfMemory = (error: unknown): boolean =>
  typeof error === 'object' &&
  error !== null &&
  'code' in error &&
  error.code === 'ERR_WORKER_OUT_OF_MEMORY'

/**
 * The URL of a file beside the caller's, with the extension of the caller's: `.ts` from source, `.js` once built.
 * @example fileBeside(import.meta.url, 'compile-entry')
 */
export const fileBeside = (url: string, name: string): URL =>
  new URL(`./${name}${extname(fileURLToPath(url))}`, pathToFileURL(fileURLToPath(url)))
