// A document that is about to be stored, and all others as they stand, in; the verdict that it will get out, by the rules
// of reconciling. Remembers nothing, compiles no other document: it looks at each of them once.

import { type ApiSpecificationResource, keyOf } from '../../resource/resource.ts'
import type { Finding } from '../../resource/condition.ts'
import type { DocumentCompiler } from './compile-document.ts'
import type { HostOwners } from '../claims/host-owners.ts'
import { validateApiSpecification } from './validate-api-specification.ts'
import {
  type ValidatedDocument,
  toValidatedDocument,
  NO_CLASHES,
  NO_LOST_HOSTS,
  type ClaimResolution,
  placeOf,
  verdictAt,
} from './validated-document.ts'
import type { LastGood } from './last-good.ts'
import { ownersOf } from '../claims/owners.ts'
import { amountsOf } from '../quotas/quota-amounts.ts'
import { quotaVerdict, type QuotaUse } from '../quotas/quota-verdict.ts'
import { readDocument, type ReadDocument } from './read-document.ts'
import { readVariables } from './read-variables.ts'
import type { Settlement } from '../claims/settlement.ts'
import type { Surroundings } from '../surroundings.ts'
import type { Verdict } from '../verdict.ts'

/** The documents as they were last settled. */
export interface DocumentStanding {
  readonly validated: readonly ValidatedDocument[]
  readonly outcome: ClaimResolution
  readonly settlement: Settlement
  /** Undefined: any namespace may claim what another has. */
  readonly hosts: HostOwners | undefined
  readonly lastGood: (key: string) => LastGood | undefined
}

/** What stands beside the documents, as they were last settled. */
export interface PreviewSurroundings extends Omit<Surroundings, 'isSame' | 'quota'> {
  /** Of the namespace of the document; undefined: there are no quotas. */
  readonly quotaUse: QuotaUse | undefined
}

export const previewDocument = (
  resource: ApiSpecificationResource,
  surroundings: PreviewSurroundings,
  standing: DocumentStanding,
  compiler: DocumentCompiler,
): Verdict => {
  const { cache, access, grant, destinations } = surroundings
  const key = keyOf(resource)
  const { namespace, uid } = resource.metadata
  const read = readDocument(resource, cache)
  const overQuota = quotaFinding(resource, read, surroundings, standing)
  const realmUri = 'document' in read ? read.realmUri : undefined
  const validation = validateApiSpecification(resource, read, {
    key,
    compiler,
    variables: readVariables(resource, cache),
    access: access(realmUri ?? '', namespace),
    grant: grant(namespace),
    destinations: destinations(namespace),
    overQuota,
  })
  const known = standing.lastGood(key)
  const lastGood = known?.uid === uid ? known : undefined
  const own = { key, resource, read, validation, overQuota, lastGood: lastGood?.document }
  const validated = toValidatedDocument(own)
  const outcome = settleWith(validated, standing)
  return verdictAt(validated, placeOf(validated, outcome, outcome.owners), lastGood)
}

/** Others may come first: then the condition says something else. */
const quotaFinding = (
  resource: ApiSpecificationResource,
  read: ReadDocument,
  { cache, quotaUse }: PreviewSurroundings,
  { validated }: DocumentStanding,
): Finding<'Accepted'> | undefined => {
  if (quotaUse === undefined || !('document' in read)) return undefined
  const key = keyOf(resource)
  const secrets = readVariables(resource, cache)
  const variables = 'found' in secrets ? secrets.found.variables : {}
  const stored = validated.find((each) => each.key === key && each.overQuota === undefined)?.read
  const before =
    stored !== undefined && 'document' in stored ? amountsOf(stored.document, variables) : undefined
  const wanted = amountsOf(read.document, variables)
  return wanted && quotaVerdict(quotaUse, wanted, before)
}

/** As all stand, but for one document. */
const settleWith = (
  mine: ValidatedDocument,
  { validated, outcome, settlement, hosts }: DocumentStanding,
): ClaimResolution => {
  const others = validated.filter(({ key, id }) => key !== mine.key && id !== '')
  const all = mine.id === '' ? others : [...others, mine]
  const owners = ownersOf(all)
  const { candidate } = mine
  if (owners.get(mine.id)?.key !== mine.key || candidate === undefined) {
    return { ...outcome, owners, lostHosts: NO_LOST_HOSTS, clashes: new Map() }
  }
  const standing = all.filter(({ key, id }) => owners.get(id)?.key === key)
  const lostHosts = hosts?.preview(standing, outcome.refused) ?? NO_LOST_HOSTS
  // What it was makes way for what it is now, under whatever id.
  const replaced = new Set([mine.id, mine.lastId ?? mine.id])
  const lost = lostHosts.has(mine.key) ? NO_CLASHES : settlement.clashesOf(candidate, replaced)
  const clashes = new Map(lost.length === 0 ? [] : [[mine.id, lost]])
  return { ...outcome, owners, lostHosts, clashes }
}
