// Compiles documents for the webhook. Only few large ones may wait, as everyone who can reach the port may send some.

import { CodedError } from '../../base/coded-error.ts'
import { untilAborted } from '../../base/until-aborted.ts'
import type { BoundedCompiler } from '../../compiler/bounded-compiler.ts'
import { documentDigest } from '../../language/wire/digest.ts'
import type { DocumentResult } from '../reconcile/documents/compile-document.ts'
import type { CompileForReview } from './validate-resource.ts'

/** Why a review ends before the document has been compiled; no fault of it. */
export class ReviewError extends CodedError<'overloaded' | 'timeout'> {}

const MAX_WAITING = 8
const MAX_WAITING_OF_NAMESPACE = 2

/** Begins to compile the document of a review. */
export type CompileReviewed = (
  task: Parameters<CompileForReview>[0],
  /** `signal` is aborted with a ReviewError when its time is up. */
  review: { readonly namespace: string; readonly signal: AbortSignal },
) => ReturnType<CompileForReview>

export const createReviewCompiler = (
  compiler: Pick<BoundedCompiler<DocumentResult>, 'compile'>,
): CompileReviewed => {
  const waiting: string[] = []
  return (task, { namespace, signal }) => {
    const isCrowded =
      waiting.length >= MAX_WAITING ||
      waiting.filter((each) => each === namespace).length >= MAX_WAITING_OF_NAMESPACE
    const result = compiler.compile({
      ...task,
      // A group apart from the namespace's resources, which the operator compiles for reconciling, so that neither
      // delays the other.
      group: `webhook ${namespace}`,
      digest: () => digestOf(task),
      signal: isCrowded ? AbortSignal.abort(crowded()) : signal,
    })
    if (!(result instanceof Promise) || isCrowded) return result
    waiting.push(namespace)
    return untilAborted(signal, result).finally(() => {
      waiting.splice(waiting.indexOf(namespace), 1)
    })
  }
}

const crowded = (): ReviewError =>
  new ReviewError('overloaded', 'other large documents are being validated')

/**
 * Without Secrets this is the digest of the operator, so that a document is found too expensive only once. With
 * stand-ins for their values it is another document: its result is not that of the text alone, which may be of another
 * tenant.
 */
const digestOf = ({ document, variables }: Parameters<CompileForReview>[0]): string =>
  documentDigest({ spec: variables === undefined ? document : [document, variables] })
