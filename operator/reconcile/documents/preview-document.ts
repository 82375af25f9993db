// Makes the result that a document which is about to be stored will get, by the rules of reconciling. Remembers nothing,
// and looks at those of the other documents alone that name its id, or want its hosts and paths.

import { type ApiSpecificationResource, keyOf } from '../../resource/resource.ts'
import type { NewCondition } from '../../resource/condition.ts'
import type { CompileOne } from './compile-document.ts'
import type { ClaimResolution } from './claim-resolution.ts'
import { validateApiSpecification, withRequirements } from './validate-api-specification.ts'
import {
  type ValidatedDocument,
  toValidatedDocument,
  NO_CONFLICTS,
  placeOf,
  type Stand,
  resultAt,
} from './validated-document.ts'
import type { LastGood } from './last-good.ts'
import { type Claimant, ownersOf } from '../claims/owners.ts'
import { amountsOf } from '../quotas/quota-amounts.ts'
import { quotaRejection, type QuotaUse } from '../quotas/quota-rejection.ts'
import { readDocument, type ReadDocument } from './read-document.ts'
import { readVariables } from './read-variables.ts'
import type { ValidationContext } from '../validation-context.ts'
import type { ResourceResult } from '../resource-result.ts'

/** The documents as they were last settled. */
export interface DocumentStanding {
  readonly resolution: ClaimResolution
  readonly validated: (key: string) => ValidatedDocument | undefined
  readonly lastGood: (key: string) => LastGood | undefined
}

/** What stands beside the documents, as they were last settled. */
export interface PreviewContext extends Omit<ValidationContext, 'quota'> {
  /** What the namespace of the document uses; undefined: there are no quotas. */
  readonly quotaUse: QuotaUse | undefined
}

export const previewDocument = (
  resource: ApiSpecificationResource,
  preview: PreviewContext,
  standing: DocumentStanding,
  compiler: CompileOne,
): ResourceResult => {
  const { cache, access, grant, destinations } = preview
  const key = keyOf(resource)
  const { namespace, uid } = resource.metadata
  const read = readDocument(resource, cache)
  const overQuota = quotaCondition(resource, read, preview, standing)
  const realmUri = 'document' in read ? read.realmUri : undefined
  const context = {
    key,
    compiler,
    variables: readVariables(resource, cache),
    access: access(realmUri ?? '', namespace),
    grant: grant(namespace),
    destinations: destinations(namespace),
    overQuota,
  }
  const compiled = validateApiSpecification(resource, read, context)
  const validation = withRequirements(compiled, read, context)
  const known = standing.lastGood(key)
  const lastGood = known?.uid === uid ? known : undefined
  const { grant: ownGrant } = context
  const own = {
    key,
    resource,
    read,
    validation,
    overQuota,
    lastGood: lastGood?.document,
    grant: ownGrant,
  }
  const validated = toValidatedDocument(own)
  const { stand, ownerOf } = standWith(validated, standing.resolution)
  return resultAt(validated, placeOf(validated, stand, ownerOf), { lastGood, isRevoked: false })
}

/** Others may come first: then the condition says something else. */
const quotaCondition = (
  resource: ApiSpecificationResource,
  read: ReadDocument,
  { cache, quotaUse }: PreviewContext,
  { validated }: DocumentStanding,
): NewCondition<'Accepted'> | undefined => {
  if (quotaUse === undefined || !('document' in read)) return undefined
  const key = keyOf(resource)
  const secrets = readVariables(resource, cache)
  const variables = 'found' in secrets ? secrets.found.variables : {}
  const known = validated(key)
  const stored = known?.overQuota === undefined ? known?.read : undefined
  const before =
    stored !== undefined && 'document' in stored ? amountsOf(stored.document, variables) : undefined
  const wanted = amountsOf(read.document, variables)
  return wanted && quotaRejection(quotaUse, wanted, before)
}

type Owners = ReadonlyMap<string, ValidatedDocument | undefined>
type OwnerOf = (id: string) => Claimant<ApiSpecificationResource> | undefined

/** As all stand, but for one document. */
const standWith = (
  mine: ValidatedDocument,
  resolution: ClaimResolution,
): { readonly stand: Stand; readonly ownerOf: OwnerOf } => {
  const { owners, hosts, refusedHosts, settlement } = resolution
  const changed = ownersWith(mine, resolution)
  const ownerOf: OwnerOf = (id) => (changed.has(id) ? changed.get(id) : owners.owner(id))
  const owner = mine.id === '' ? undefined : ownerOf(mine.id)
  const stand = { owner, isHostLost: false, conflicts: NO_CONFLICTS, isEntangled: false }
  const { candidate } = mine
  if (owner?.key !== mine.key || candidate === undefined) return { stand, ownerOf }
  const lostHosts = hosts?.preview(standingWith(changed, resolution), refusedHosts)
  const isHostLost = lostHosts?.has(mine.key) === true
  // What it was makes way for what it is now, under whatever id.
  const replaced = new Set([mine.id, mine.lastId ?? mine.id])
  const conflicts = isHostLost ? NO_CONFLICTS : settlement.conflictsAfter(candidate, replaced)
  return { stand: { ...stand, isHostLost, conflicts }, ownerOf }
}

/** Only of the ids that it names, and has named, may others be owners. */
const ownersWith = (mine: ValidatedDocument, { owners }: ClaimResolution): Owners => {
  const changed = new Map<string, ValidatedDocument | undefined>()
  for (const id of new Set([mine.id, owners.claimant(mine.key)?.id ?? ''])) {
    if (id === '') continue
    const others = owners.claimantsOf(id).filter(({ key }) => key !== mine.key)
    const claimants = id === mine.id ? [...others, mine] : others
    const owner = ownersOf(claimants).get(id)
    changed.set(
      id,
      claimants.find(({ key }) => key === owner?.key),
    )
  }
  return changed
}

/** Key → what an owner of one of these ids wants; undefined: it owns none any more. */
const standingWith = (changed: Owners, { owners }: ClaimResolution): Owners => {
  const standing = new Map<string, ValidatedDocument | undefined>()
  for (const id of changed.keys()) {
    const before = owners.owner(id)
    if (before !== undefined) standing.set(before.key, undefined)
  }
  for (const after of changed.values()) if (after !== undefined) standing.set(after.key, after)
  return standing
}
