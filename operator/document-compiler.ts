// Creates the operator's one compiler, and a view of it for reconciling, which asks repeatedly and never waits: results
// of large documents are cached until the resource changes, and many small ones do not hold up the event loop.

import { withDescribedExamples } from '../language/without-examples.ts'
import {
  BoundedCompiler,
  type BoundedCompilerOptions,
  type CompileRequest,
  type Purpose,
} from '../compiler/bounded-compiler.ts'
import { CompilerError, fileBeside } from '../compiler/compile-thread.ts'
import { documentDigest } from '../language/wire/digest.ts'
import type { Problem } from '../language/problem.ts'
import type { Log } from '../telemetry/log.ts'
import {
  compileDocument,
  type DocumentCompiler,
  isSameRequest,
  type DocumentResult,
  type DocumentRequest,
} from './reconcile/documents/compile-document.ts'

export type OperatorCompiler = BoundedCompiler<DocumentResult>

export const createOperatorCompiler = (
  options: Pick<BoundedCompilerOptions<DocumentResult>, 'limits' | 'timers'>,
): OperatorCompiler =>
  new BoundedCompiler({
    ...options,
    work: compileDocument,
    entry: fileBeside(import.meta.url, 'compile-entry'),
    refuse: (problem) => ({ problems: [problem], warnings: [] }),
  })

export interface CachingCompilerOptions {
  readonly compiler: Pick<OperatorCompiler, 'compile' | 'isSmall' | 'limitsVersion'>
  /** A result that was asked for is there, or there is time for what had to wait. */
  readonly onResult: () => void
  readonly log: Log
  /** Milliseconds that never go back. `performance.now` when absent. */
  readonly now?: () => number
}

interface Entry {
  /** The last request: the same content may come as another object. */
  request: DocumentRequest
  readonly giveUp: AbortController
  readonly purpose: Purpose
  result: DocumentResult | undefined
}

/**
 * Renewing a Lease, reports of data planes and edits of others wait for so long at most: one edit of a Realm, a Secret or a
 * Namespace may concern all 10,000 documents of a namespace, and those are 8 ms each.
 */
const TURN_MS = 200

/** @example new Reconciler({ className: 'svc', compiler: new CachingCompiler({ compiler, onResult, log }) }) */
export class CachingCompiler implements DocumentCompiler {
  readonly #options: CachingCompilerOptions
  /** Entries of large documents only, by key of the resource. */
  readonly #entries = new Map<string, Entry>()
  /** When compiling began in this turn of the event loop; undefined: it did not. */
  #startedMs: number | undefined
  #isAnyWaiting = false

  constructor(options: CachingCompilerOptions) {
    this.#options = options
  }

  hasTime(): boolean {
    const { now = () => performance.now() } = this.#options
    const nowMs = now()
    if (this.#startedMs === undefined) {
      this.#startedMs = nowMs
      setImmediate(() => {
        this.#endTurn()
      })
    }
    const hasTime = nowMs - this.#startedMs < TURN_MS
    if (!hasTime) this.#isAnyWaiting = true
    return hasTime
  }

  #endTurn(): void {
    const isAnyWaiting = this.#isAnyWaiting
    this.#startedMs = undefined
    this.#isAnyWaiting = false
    if (isAnyWaiting) this.#options.onResult()
  }

  compile(request: DocumentRequest): DocumentResult | undefined {
    const { key } = request
    const before = this.#entries.get(key)
    if (before !== undefined && isSameRequest(before.request, request)) {
      before.request = request
      return before.result
    }
    before?.giveUp.abort()
    this.#entries.delete(key)
    if (request.mayWait === true && this.#isSmall(request) && !this.hasTime()) return undefined
    const giveUp = new AbortController()
    const purpose = this.#isServing(request) ? 'serving' : 'edit'
    const result = this.#ask(request, { signal: giveUp.signal, purpose })
    if (!(result instanceof Promise)) return result
    const entry: Entry = { request, giveUp, purpose, result: undefined }
    this.#entries.set(key, entry)
    void this.#fill(key, entry, result)
    return undefined
  }

  async compileToEnd(request: DocumentRequest): Promise<DocumentResult> {
    try {
      return await this.#ask(request, { purpose: 'serving' })
    } catch (error) {
      return this.#failed(request.key, error)
    }
  }

  isAwaitingServing(): boolean {
    return [...this.#entries.values()].some(
      ({ purpose, result }) => purpose === 'serving' && result === undefined,
    )
  }

  retain(live: { has(key: string): boolean }): void {
    for (const [key, { giveUp }] of this.#entries) {
      if (live.has(key)) continue
      giveUp.abort()
      this.#entries.delete(key)
    }
  }

  #isSmall({ document }: DocumentRequest): boolean {
    return this.#options.compiler.isSmall(document)
  }

  /** Called only for large documents: the digests of all documents in service would take long. */
  #isServing(request: DocumentRequest): boolean {
    const { programmedDigest } = request
    if (programmedDigest === undefined || this.#isSmall(request)) return false
    // Of what gateways were sent.
    return (
      digestOf({ ...request, document: withDescribedExamples(request.document) }) ===
      programmedDigest
    )
  }

  #ask(
    request: DocumentRequest,
    more: Pick<CompileRequest, 'signal' | 'purpose'>,
  ): DocumentResult | Promise<DocumentResult> {
    const { namespace, document, realm, secrets, quarantined } = request
    const { compiler } = this.#options
    const digest = (): string => digestOf(request)
    const compiled = compiler.compile({
      document,
      realm,
      variables: secrets.variables,
      digest,
      quarantined,
      namespace,
      ...more,
    })
    const sign = (result: DocumentResult): DocumentResult =>
      isTooExpensive(result)
        ? { ...result, quarantined: { digest: digest(), limits: compiler.limitsVersion } }
        : result
    return compiled instanceof Promise ? compiled.then(sign) : sign(compiled)
  }

  async #fill(key: string, entry: Entry, result: Promise<DocumentResult>): Promise<void> {
    try {
      entry.result = await result
    } catch (error) {
      if (entry.giveUp.signal.aborted || isClosed(error)) return
      entry.result = this.#failed(key, error)
    }
    if (this.#entries.get(key) === entry) this.#options.onResult()
  }

  /** It is not quarantined: a change, or another start, tries it again. */
  #failed(key: string, error: unknown): DocumentResult {
    this.#options.log.error('a document could not be compiled', { resource: key, error })
    const message =
      'The operator failed to compile the document (see its log): change it, or restart the operator'
    const problem: Problem = { code: 'too_expensive', path: '', message }
    return { problems: [problem], warnings: [] }
  }
}

const isClosed = (error: unknown): boolean =>
  error instanceof CompilerError && error.code === 'closed'

/** Never of the values of Secrets: it stands in the status of the resource. */
const digestOf = ({ document, secrets }: DocumentRequest): string =>
  documentDigest({ spec: document, secretVersions: secrets.versions })

const isTooExpensive = (result: DocumentResult): boolean =>
  'problems' in result && result.problems.some(({ code }) => code === 'too_expensive')
