// Creates the operator's one compiler, and a view of it for reconciling, which asks repeatedly and never waits: results
// of large documents are cached until the resource changes, and many small ones do not hold up the event loop.

import {
  BoundedCompiler,
  type BoundedCompilerOptions,
  type CompileRequest,
} from '../compiler/bounded-compiler.ts'
import { CompilerError, fileBeside } from '../compiler/compile-thread.ts'
import { documentDigest } from '../language/wire/digest.ts'
import type { Problem } from '../language/problem.ts'
import type { Log } from '../telemetry/log.ts'
import {
  compileDocument,
  type DocumentCompiler,
  type DocumentResult,
  type DocumentRequest,
} from './reconcile/documents/compile-document.ts'
import { CompileTurn } from './compile-turn.ts'
import { isSameValue } from './resource/same-value.ts'

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
  readonly digest: string
  readonly giveUp: AbortController
  readonly isServing: boolean
  result: DocumentResult | undefined
}

/** @example new Reconciler({ className: 'svc', compiler: new CachingCompiler({ compiler, onResult, log }) }) */
export class CachingCompiler implements DocumentCompiler {
  readonly #options: CachingCompilerOptions
  /** By key of the resource; of large documents only. */
  readonly #entries = new Map<string, Entry>()
  readonly #turn: CompileTurn

  constructor(options: CachingCompilerOptions) {
    this.#options = options
    const { onResult, now = () => performance.now() } = options
    this.#turn = new CompileTurn({ onNext: onResult, now })
  }

  hasTime(): boolean {
    return this.#turn.hasTime()
  }

  compile(request: DocumentRequest): DocumentResult | undefined {
    const { key } = request
    const before = this.#entries.get(key)
    if (before !== undefined && asksForSame(before, request)) {
      before.request = request
      return before.result
    }
    before?.giveUp.abort()
    this.#entries.delete(key)
    if (request.mayWait === true && this.#isSmall(request) && !this.hasTime()) return undefined
    const giveUp = new AbortController()
    const isServing = this.#isServing(request)
    const result = this.#ask(request, { signal: giveUp.signal, isServing })
    if (!(result instanceof Promise)) return result
    const digest = digestOf(request)
    const entry: Entry = { request, digest, giveUp, isServing, result: undefined }
    this.#entries.set(key, entry)
    void this.#fill(key, entry, result)
    return undefined
  }

  async outcome(request: DocumentRequest): Promise<DocumentResult> {
    try {
      return await this.#ask(request, { isServing: true })
    } catch (error) {
      return this.#failed(request.key, error)
    }
  }

  isAwaitingServing(): boolean {
    return [...this.#entries.values()].some(
      ({ isServing, result }) => isServing && result === undefined,
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
    return digestOf(request) === programmedDigest
  }

  #ask(
    request: DocumentRequest,
    more: Pick<CompileRequest, 'signal' | 'isServing'>,
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
      // A document that is served does not wait for others that its namespace has changed.
      group: more.isServing === true ? `serving ${namespace}` : namespace,
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

/** Secrets are compared by their versions, as their values are read again each time. */
const asksForSame = ({ request: before, digest }: Entry, request: DocumentRequest): boolean => {
  // Where credentials are withheld, each validation creates the facts again.
  if (before.realm !== request.realm && !isSameValue(before.realm, request.realm)) return false
  const isSameObject =
    before.document === request.document &&
    JSON.stringify(before.secrets.versions) === JSON.stringify(request.secrets.versions)
  return isSameObject || digestOf(request) === digest
}
