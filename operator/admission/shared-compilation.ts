// Compiles the document of one review once for all who need the result: with its real realm and variables where these
// are known, since a document that is valid with them is valid by itself.

import {
  type CompileOne,
  type DocumentResult,
  type DocumentRequest,
  isSameRequest,
} from '../reconcile/documents/compile-document.ts'
import { ANY_REALM } from '../reconcile/documents/make-document.ts'
import type { CompileForReview } from './validate-resource.ts'

export class SharedCompilation implements CompileOne {
  readonly #compile: CompileForReview
  #latest: DocumentRequest | undefined
  #running: Promise<void> | undefined
  #known: { readonly request: DocumentRequest; readonly result: DocumentResult } | undefined

  constructor(compile: CompileForReview) {
    this.#compile = compile
  }

  /** Undefined: `run` compiles the document of this request. */
  compile(request: DocumentRequest): DocumentResult | undefined {
    this.#latest = request
    const known = this.#known
    return known !== undefined && isSameRequest(known.request, request) ? known.result : undefined
  }

  /** Rejects as the compiler does. */
  async run(): Promise<void> {
    const request = this.#latest
    if (request === undefined) return
    this.#running = this.#compileFor(request)
    await this.#running
  }

  async #compileFor(request: DocumentRequest): Promise<void> {
    const { document, realm, secrets } = request
    const task = {
      document,
      realm,
      ...(secrets.versions.length > 0 && { variables: secrets.variables }),
    }
    this.#known = { request, result: await this.#compile(task) }
  }

  /** The result of a document for any realm and any variables: the one that is known, where it implies that. */
  readonly reuse: CompileForReview = async (task) => {
    // A forecast that is waited for no longer may have begun it.
    await this.#running
    const known = this.#known
    if (known?.request.document !== task.document) return this.#compile(task)
    // The problems may be those of its realm or its variables, which are no reason to reject it.
    const isConclusive =
      'compiled' in known.result ||
      (known.request.realm === ANY_REALM && task.variables === undefined)
    return isConclusive ? known.result : this.#compile(task)
  }
}
