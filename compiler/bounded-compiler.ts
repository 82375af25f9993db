// Compiles a document within limits: a small one at once, in this thread; a larger one in another, where it can take no
// more than its memory and time. What takes more is refused, and not tried again. The one place that decides which.

import { BoundedMap } from '../base/bounded-map.ts'
import { FairQueue } from '../base/fair-queue.ts'
import { isMap } from '../language/expression/value.ts'
import { isWithin, measure } from '../language/measure.ts'
import type { Problem } from '../language/problem.ts'
import { countRoutes } from '../language/routes/route-limit.ts'
import {
  CompilerError,
  type CompilerErrorCode,
  CompileThread,
  type Timers,
} from './compile-thread.ts'
import { type CompileLimits, limitsVersion } from './limits.ts'
import type { CompileTask, CompileWork } from './task.ts'

export interface BoundedCompilerOptions<R> {
  readonly work: CompileWork<R>
  /** File that calls `answerTasks` with the same `work`. */
  readonly entry: URL
  readonly limits: CompileLimits
  readonly timers: Timers
  /** What `work` would have given for a document with this one problem. */
  readonly refuse: (problem: Problem, document: unknown) => R
}

export interface CompileRequest extends CompileTask {
  /** Groups take turns: a namespace. */
  readonly group: string
  /** Of the content; asked for only where the document is large. No secret may be guessed from it. */
  readonly digest: () => string
  /** What was refused before, in another life of this process. */
  readonly quarantined?: Quarantined | undefined
  /** It was compiled before, so a slow start of a busy machine must not end it: it has more time. */
  readonly isServing?: boolean
  /** Nobody waits any more: what has not begun is left out, and the promise rejects with its reason. */
  readonly signal?: AbortSignal
}

/** A document that was too expensive, and for which limits. */
export interface Quarantined {
  readonly digest: string
  readonly limits: string
}

/** Takes some 50 ms at most, with all that it may stand for. */
const SMALL_BYTES = 64 * 1024
const SMALL_ROUTES = 1000

const MAX_QUARANTINED = 1000

/** So many times as much. */
const MORE_TIME = 6

interface Job<R> {
  readonly task: CompileTask
  readonly timeMs: number
  readonly digest: string
  readonly resolve: (result: R) => void
  readonly reject: (error: unknown) => void
}

/**
 * @example
 * const result = await compiler.compile({ ...taskOf(document, environment), group: namespace, digest })
 */
export class BoundedCompiler<R> {
  readonly limitsVersion: string
  readonly #options: BoundedCompilerOptions<R>
  readonly #thread: CompileThread<R>
  readonly #queue = new FairQueue<Job<R>>()
  readonly #quarantine = new BoundedMap<string, true>(MAX_QUARANTINED)
  /** Documents are never changed, and asked for again while they wait. */
  readonly #small = new WeakMap<object, boolean>()
  #isBusy = false
  #isClosed = false

  constructor(options: BoundedCompilerOptions<R>) {
    this.#options = options
    this.#thread = new CompileThread(options)
    this.limitsVersion = limitsVersion(options.limits)
  }

  /** Small, or too expensive as is known already: the result itself. Rejects where the thread fails for another reason. */
  compile(request: CompileRequest): R | Promise<R> {
    const { document, realm, variables, quarantined } = request
    const task = { document, realm, ...(variables !== undefined && { variables }) }
    if (this.isSmall(document)) return this.#options.work(task, this.#options.limits)
    const digest = request.digest()
    if (quarantined?.digest === digest && quarantined.limits === this.limitsVersion)
      this.#quarantine.set(digest, true)
    if (this.#quarantine.use(digest) === true) return this.#refuse(document)
    return this.#enqueue(task, digest, request)
  }

  /** For good: what waits rejects, and what is large and comes later. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (let job = this.#queue.shift(); job !== undefined; job = this.#queue.shift())
      job.reject(new CompilerError('closed'))
    await this.#thread.close()
  }

  /** It is compiled at once. */
  isSmall(document: unknown): boolean {
    if (!isMap(document)) return true
    const known = this.#small.get(document)
    if (known !== undefined) return known
    const isSmall = isWithin(document, SMALL_BYTES)
      ? countRoutes(document) <= SMALL_ROUTES
      : // What breaks a bound is not looked at any further, and may be no data that a thread can be sent.
        measure(document).length > 0
    this.#small.set(document, isSmall)
    return isSmall
  }

  #enqueue(
    task: CompileTask,
    digest: string,
    { group, signal, isServing = false }: CompileRequest,
  ): Promise<R> {
    if (this.#isClosed) return Promise.reject(new CompilerError('closed'))
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error)
    const { promise, resolve, reject } = Promise.withResolvers<R>()
    const timeMs = this.#options.limits.timeMs * (isServing ? MORE_TIME : 1)
    const job = { task, timeMs, digest, resolve, reject }
    this.#queue.push(group, job)
    signal?.addEventListener('abort', () => {
      if (this.#queue.remove(group, job)) reject(signal.reason)
    })
    void this.#work()
    return promise
  }

  async #work(): Promise<void> {
    if (this.#isBusy) return
    this.#isBusy = true
    for (let job = this.#queue.shift(); job !== undefined; job = this.#queue.shift())
      await this.#compile(job)
    this.#isBusy = false
  }

  async #compile({ task, timeMs, digest, resolve, reject }: Job<R>): Promise<void> {
    try {
      // The same content may have come twice.
      if (this.#quarantine.use(digest) === undefined) resolve(await this.#thread.run(task, timeMs))
      else resolve(this.#refuse(task.document))
    } catch (error) {
      if (error instanceof CompilerError && IS_TOO_EXPENSIVE[error.code]) {
        this.#quarantine.set(digest, true)
        resolve(this.#refuse(task.document))
      } else reject(error)
    }
  }

  /** The same words each time: which of the limits was passed first is chance. */
  #refuse(document: unknown): R {
    const { limits, refuse } = this.#options
    const message =
      `Compiling the document takes more than ${limits.memoryMb} MB of memory or ${limits.timeMs / 1000} seconds, ` +
      'so it is not tried again as it is: split it into several documents, or have it inherit and repeat less ' +
      '(the limits are the settings compile-memory-mb and compile-seconds of gateway and operator)'
    return refuse({ code: 'too_expensive', path: '', message }, document)
  }
}

/** Whether the document is to blame. */
const IS_TOO_EXPENSIVE = {
  memory: true,
  time: true,
  closed: false,
} as const satisfies Record<CompilerErrorCode, boolean>
