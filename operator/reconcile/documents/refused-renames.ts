// Finds the documents that would change their ids and stay what they were, given how all of them were settled. Pure.

import type { DesiredDocument } from '../../desired-set.ts'
import type { Stand, ValidatedDocument } from './validated-document.ts'

/** One by one is exact. A chain of thousands, each of which waits for the next, would hold up everybody for minutes. */
const EXACT_ROUNDS = 16

/** How the documents were settled in this round. */
export interface SettledTurn {
  readonly standOf: (validated: ValidatedDocument) => Stand
  readonly documents: ReadonlyMap<string, DesiredDocument>
}

/**
 * After so many rounds with all of its namespace that would change their ids: then there are no more rounds than namespaces.
 * @param renamed all that would change their ids
 * @returns with the stand that tells why
 */
export const refusedRenames = (
  renamed: readonly ValidatedDocument[],
  { standOf, documents }: SettledTurn,
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
