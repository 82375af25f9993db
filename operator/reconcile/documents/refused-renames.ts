// Documents that would change their ids, and how all were settled, in; those of them that stay what they were, out. Pure.

import type { ValidatedDocument, ClaimResolution } from './validated-document.ts'
import { isRenamed } from '../claims/owners.ts'

/** One by one is exact. A chain of thousands, each of which waits for the next, would hold up everybody for minutes. */
const EXACT_TURNS = 16

/**
 * After so many turns with all of its namespace that would change their ids: then there are no more turns than namespaces.
 * @returns with the outcome that tells why
 */
export const refusedRenames = (
  validated: readonly ValidatedDocument[],
  outcome: ClaimResolution,
  turn: number,
): ReadonlyMap<ValidatedDocument, ClaimResolution> => {
  const renamed = validated.filter(isRenamed)
  const refused = renamed.filter((each) => isRefused(each, outcome))
  const seen = new Map<ValidatedDocument, ClaimResolution>(refused.map((each) => [each, outcome]))
  if (turn < EXACT_TURNS || refused.length === 0) return seen
  const namespaces = new Set(refused.map(namespaceOf))
  const others = renamed.filter((each) => !seen.has(each) && namespaces.has(namespaceOf(each)))
  const entangled = { ...outcome, entangled: new Set(others.map(({ key }) => key)) }
  for (const each of others) seen.set(each, entangled)
  return seen
}

const namespaceOf = ({ resource }: ValidatedDocument): string => resource.metadata.namespace

const isRefused = (
  validated: ValidatedDocument,
  { owners, lostHosts, documents }: ClaimResolution,
): boolean =>
  owners.get(validated.id)?.key !== validated.key ||
  lostHosts.has(validated.key) ||
  documents.get(validated.id) !== validated.candidate
