// Compiles documents for the webhook. An API server waits for three seconds, so a compilation that takes longer is
// cancelled; and only few large documents may wait, as everyone who can reach the port may send some.

import { CodedError } from '../../base/coded-error.ts'
import { withTimeout } from '../../base/timeout.ts'
import type { BoundedCompiler } from '../../compiler/bounded-compiler.ts'
import type { Timers } from '../../compiler/compile-thread.ts'
import { documentDigest } from '../../language/wire/digest.ts'
import type { DocumentResult } from '../reconcile/documents/compile-document.ts'
import type { CompileForReview } from './validate-resource.ts'

/** Not the client's error: the API server's policy decides, or it asks again. */
export class ReviewError extends CodedError<'overloaded' | 'timeout'> {}

/** Less than the API server waits. */
const WAIT_MS = 2_500
const MAX_WAITING = 8
const MAX_WAITING_OF_NAMESPACE = 2

export const createReviewCompiler = (
  compiler: Pick<BoundedCompiler<DocumentResult>, 'compile'>,
  timers: Timers,
): CompileForReview => {
  const waiting: string[] = []
  return (task, namespace) => {
    const isCrowded =
      waiting.length >= MAX_WAITING ||
      waiting.filter((each) => each === namespace).length >= MAX_WAITING_OF_NAMESPACE
    const giveUp = new AbortController()
    const busy = isCrowded
      ? new ReviewError('overloaded', 'other large documents are being validated')
      : new ReviewError('timeout', 'it is large, and took too long')
    if (isCrowded) giveUp.abort(busy)
    const result = compiler.compile({
      ...task,
      // A group apart from the namespace's resources, which the operator compiles for reconciling, so that neither
      // delays the other.
      group: `webhook ${namespace}`,
      digest: () => digestOf(task),
      signal: giveUp.signal,
    })
    if (!(result instanceof Promise) || isCrowded) return result
    waiting.push(namespace)
    const onTimeout = (): never => {
      giveUp.abort(busy)
      throw busy
    }
    return withTimeout(result, { ms: WAIT_MS, clock: timers, onTimeout }).finally(() => {
      waiting.splice(waiting.indexOf(namespace), 1)
    })
  }
}

/**
 * Without Secrets this is the digest of the operator, so that a document is found too expensive only once. With
 * stand-ins for their values it is another document: its result is not that of the text alone, which may be of another
 * tenant.
 */
const digestOf = ({ document, variables }: Parameters<CompileForReview>[0]): string =>
  documentDigest({ spec: variables === undefined ? document : [document, variables] })
