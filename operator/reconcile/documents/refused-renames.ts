// Finds the documents that ask for another id and may not have it, given how all documents were settled. Pure.

import type { DesiredDocument } from '../../desired-set.ts'
import type { Stand, ValidatedDocument } from './validated-document.ts'

/** Rejecting only these is exact, but a chain of thousands that wait for each other would take minutes. */
const EXACT_ROUNDS = 16

/** How the documents were settled in this round. */
export interface SettledRound {
  readonly standOf: (validated: ValidatedDocument) => Stand
  readonly documents: ReadonlyMap<string, DesiredDocument>
}

/**
 * After some rounds, all documents of the same namespace that ask for another id are rejected together, so that there are
 * no more rounds than namespaces.
 * @param renamed all documents that ask for another id
 * @returns the rejected ones, each with its relation to the others, which says why
 */
export const refusedRenames = (
  renamed: readonly ValidatedDocument[],
  { standOf, documents }: SettledRound,
  round: number,
): ReadonlyMap<ValidatedDocument, Stand> => {
  const stands = renamed.map((each) => [each, standOf(each)] as const)
  const refused = stands.filter(([each, stand]) => isRefused(each, stand, documents))
  const seen = new Map<ValidatedDocument, Stand>(refused)
  if (round < EXACT_ROUNDS || refused.length === 0) return seen
  const namespaces = new Set(refused.map(([each]) => namespaceOf(each)))
  for (const [each, stand] of stands) {
    if (seen.has(each) || !namespaces.has(namespaceOf(each))) continue
    seen.set(each, { ...stand, isEntangled: true })
  }
  return seen
}

const namespaceOf = ({ resource }: ValidatedDocument): string => resource.metadata.namespace

const isRefused = (
  { key, id, candidate }: ValidatedDocument,
  { owner, isHostLost }: Stand,
  documents: ReadonlyMap<string, DesiredDocument>,
): boolean => owner?.key !== key || isHostLost || documents.get(id) !== candidate
