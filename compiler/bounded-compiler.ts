// Compiles a document within limits: a small one at once in this thread, a larger one in a worker thread with bounded
// memory and time. A document that takes more is rejected and not tried again. It is the only queue of what is compiled.

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
  type CompileThreadOptions,
} from './compile-thread.ts'
import { limitsVersion } from './limits.ts'
import type { CompileTask, CompileWork } from './task.ts'

/** `entry` calls `answerTasks` with the same `work`. */
export interface BoundedCompilerOptions<R> extends CompileThreadOptions {
  readonly work: CompileWork<R>
  /** The result of `work` for a document with this one problem. */
  readonly refuse: (problem: Problem, document: unknown) => R
}

export interface CompileRequest extends CompileTask {
  readonly namespace: string
  readonly purpose: Purpose
  /** Digest of the content; computed only for large documents. No secret can be guessed from it. */
  readonly digest: () => string
  /** What was rejected before, in an earlier life of this process. */
  readonly quarantined?: Quarantined | undefined
  /**
   * Aborted when nothing waits for the result any more: the promise rejects with the reason, and a compilation that has not
   * begun is skipped.
   */
  readonly signal?: AbortSignal
}

/** Each purpose of each namespace takes turns with all others: neither reviews nor edits delay what serves, or each other. */
export type Purpose =
  /** It was compiled before, so it gets more time: a slow start of a busy machine must not end it. */
  | 'serving'
  | 'edit'
  /** Work of the webhook, which everyone on the network may reach: only few may wait. */
  | 'review'

/** A document that was too expensive, and for which limits. */
export interface Quarantined {
  readonly digest: string
  readonly limits: string
}

/** These take some 50 ms at most, with all that the document stands for. */
const SMALL_BYTES = 64 * 1024
const SMALL_ROUTES = 1000

const MAX_QUARANTINED = 1000

/** What serves already gets this many times the time. */
const MORE_TIME = 6

const MAX_REVIEWS = 8
const MAX_REVIEWS_OF_NAMESPACE = 2

interface Job<R> {
  readonly task: CompileTask
  readonly timeMs: number
  readonly digest: string
  readonly resolve: (result: R) => void
  readonly reject: (error: unknown) => void
}

/**
 * @example
 * const result = await compiler.compile({ ...taskOf(document, environment), namespace, purpose: 'edit', digest })
 */
export class BoundedCompiler<R> {
  readonly limitsVersion: string
  readonly #options: BoundedCompilerOptions<R>
  readonly #thread: CompileThread<R>
  readonly #queue = new FairQueue<Job<R>>()
  readonly #quarantine = new BoundedMap<string, true>(MAX_QUARANTINED)
  /** Documents are never changed, and this is asked again while they wait. */
  readonly #small = new WeakMap<object, boolean>()
  /** Namespaces of the reviews that wait for a result. */
  readonly #reviews: string[] = []
  #isBusy = false
  #isClosed = false

  constructor(options: BoundedCompilerOptions<R>) {
    this.#options = options
    this.#thread = new CompileThread(options)
    this.limitsVersion = limitsVersion(options.limits)
  }

  /**
   * The result itself for a small document or one known to be too expensive. Rejects with a CompilerError where there is no
   * room or the compiler is closed, and where the thread fails for another reason.
   */
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

  /** For good: what waits rejects, and so does each large document that comes later. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (let job = this.#queue.shift(); job !== undefined; job = this.#queue.shift())
      job.reject(new CompilerError('closed'))
    await this.#thread.close()
  }

  /** Whether it is compiled at once. */
  isSmall(document: unknown): boolean {
    if (!isMap(document)) return true
    const known = this.#small.get(document)
    if (known !== undefined) return known
    const isSmall = isWithin(document, SMALL_BYTES)
      ? countRoutes(document) <= SMALL_ROUTES
      : // A document that breaks a bound is not read any further, and may not be data that can be sent to a thread.
        measure(document).length > 0
    this.#small.set(document, isSmall)
    return isSmall
  }

  #enqueue(
    task: CompileTask,
    digest: string,
    { namespace, purpose, signal }: CompileRequest,
  ): Promise<R> {
    if (this.#isClosed) return Promise.reject(new CompilerError('closed'))
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error)
    const { promise, resolve, reject } = Promise.withResolvers<R>()
    if (purpose === 'review' && !this.#admit(namespace, promise))
      return Promise.reject(new CompilerError('overloaded'))
    const timeMs = this.#options.limits.timeMs * (purpose === 'serving' ? MORE_TIME : 1)
    const job = { task, timeMs, digest, resolve, reject }
    const group = `${purpose} ${namespace}`
    this.#queue.push(group, job)
    signal?.addEventListener('abort', () => {
      this.#queue.remove(group, job)
      reject(signal.reason)
    })
    void this.#work()
    return promise
  }

  #admit(namespace: string, result: Promise<R>): boolean {
    const reviews = this.#reviews
    const own = reviews.filter((each) => each === namespace).length
    if (reviews.length >= MAX_REVIEWS || own >= MAX_REVIEWS_OF_NAMESPACE) return false
    reviews.push(namespace)
    const end = (): void => {
      reviews.splice(reviews.indexOf(namespace), 1)
    }
    result.then(end, end)
    return true
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
      // The same content may have been queued twice.
      if (this.#quarantine.use(digest) === undefined) resolve(await this.#thread.run(task, timeMs))
      else resolve(this.#refuse(task.document))
    } catch (error) {
      if (error instanceof CompilerError && IS_TOO_EXPENSIVE[error.code]) {
        this.#quarantine.set(digest, true)
        resolve(this.#refuse(task.document))
      } else reject(error)
    }
  }

  /** The same message each time, as it is chance which of the limits was passed first. */
  #refuse(document: unknown): R {
    const { limits, refuse } = this.#options
    const message =
      `Compiling the document takes more than ${limits.memoryMb} MB of memory or ${limits.timeMs / 1000} seconds, ` +
      'so it is not tried again as it is: split it into several documents, or have it inherit and repeat less ' +
      '(the time is the setting compile-seconds of gateway and operator)'
    return refuse({ code: 'too_expensive', path: '', message }, document)
  }
}

/** Whether the document is to blame. */
const IS_TOO_EXPENSIVE = {
  memory: true,
  time: true,
  closed: false,
  overloaded: false,
} as const satisfies Record<CompilerErrorCode, boolean>
