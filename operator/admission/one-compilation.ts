// One document that is being reviewed in; its outcome out, compiled once for all who ask within the review: with its real
// realm and variables where these are known, since what is good with those is good in itself.

import type {
  DocumentCompiler,
  DocumentOutcome,
  DocumentRequest,
} from '../reconcile/documents/compile-document.ts'
import { ANY_REALM } from '../reconcile/documents/make-document.ts'
import { isSameValue } from '../resource/same-value.ts'
import type { CompileForReview } from './judge-resource.ts'

export class OneCompilation implements DocumentCompiler {
  #asked: DocumentRequest | undefined
  #known: { readonly request: DocumentRequest; readonly outcome: DocumentOutcome } | undefined

  /** Undefined: `run` compiles what was asked for. */
  compile(request: DocumentRequest): DocumentOutcome | undefined {
    this.#asked = request
    const known = this.#known
    return known !== undefined && asksForSame(known.request, request) ? known.outcome : undefined
  }

  /** Rejects as `compile` does. */
  async run(compile: CompileForReview): Promise<void> {
    const request = this.#asked
    if (request === undefined) return
    const { document, realm, secrets, namespace } = request
    const task = {
      ...{ document, realm },
      ...(secrets.versions.length > 0 && { variables: secrets.variables }),
    }
    this.#known = { request, outcome: await compile(task, namespace) }
  }

  /** The outcome of a document for any realm and any variables, where that of the real ones tells it. */
  reused(compile: CompileForReview): CompileForReview {
    return (task, namespace) => {
      const known = this.#known
      if (known?.request.document !== task.document) return compile(task, namespace)
      // Faults may be those of its realm or its variables, which are no reason to refuse it.
      const isTelling =
        'compiled' in known.outcome ||
        (known.request.realm === ANY_REALM && task.variables === undefined)
      return isTelling ? known.outcome : compile(task, namespace)
    }
  }

  outcome(): Promise<DocumentOutcome> {
    return Promise.reject(new Error('nothing is recovered in a review'))
  }

  isAwaitingServing(): boolean {
    return false
  }

  retain(): void {
    // There is one document.
  }
}

const asksForSame = (before: DocumentRequest, request: DocumentRequest): boolean =>
  // A ConfigMap is parsed anew each time.
  isSameValue(before.document, request.document) &&
  before.realm === request.realm &&
  JSON.stringify(before.secrets.versions) === JSON.stringify(request.secrets.versions)
