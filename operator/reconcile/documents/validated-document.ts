// Derives from a document that was validated by itself the id that it claims and, once all claims are resolved, the
// result for it. Pure: `claim-resolution.ts` resolves the claims.

import { type Conflict, conflictProblem } from '../../../language/compile/conflicts.ts'
import type { Problem } from '../../../language/problem.ts'
import type { DesiredDocument } from '../../desired-set.ts'
import type { NewCondition } from '../../resource/condition.ts'
import { type ApiSpecificationResource, isPaused } from '../../resource/resource.ts'
import { documentResult } from './document-result.ts'
import type { HostClaimant, LostHosts } from '../claims/host-owners.ts'
import type { ApiSpecificationValidation } from './validate-api-specification.ts'
import type { LastGood } from './last-good.ts'
import type { Claimant } from '../claims/owners.ts'
import type { ReadDocument } from './read-document.ts'
import type { Applicant } from '../claims/settlement.ts'
import type { Serving, ResourceResult } from '../resource-result.ts'

export interface ValidatedDocument
  extends Claimant<ApiSpecificationResource>, HostClaimant, Applicant {
  readonly read: ReadDocument
  readonly validation: ApiSpecificationValidation
  readonly isPending: boolean
  readonly overQuota: NewCondition<'Accepted'> | undefined
}

/** How a document relates to the others. */
export interface Stand {
  /** The owner of the id that it names. */
  readonly owner: Claimant<ApiSpecificationResource> | undefined
  /** A host that it asks for belongs to another namespace. */
  readonly isHostLost: boolean
  /** The claims that the document which owns the id loses. */
  readonly conflicts: readonly Conflict[]
  /** It is rejected together with others of its namespace, as deciding one by one would take too long. */
  readonly isEntangled: boolean
}

export const NO_CONFLICTS: readonly Conflict[] = []
export const NO_LOST_HOSTS: LostHosts = new Map()

type Own = Pick<
  ValidatedDocument,
  'key' | 'resource' | 'read' | 'validation' | 'lastGood' | 'overQuota' | 'grant'
>

/**
 * A version that is not valid does not change the id: the one that serves stays with its resource. After a restart, a
 * resource that can't be read has the id in its status; without one it could be any document that data planes have loaded.
 */
export const toValidatedDocument = (own: Own): ValidatedDocument => {
  const { resource, read, validation, lastGood } = own
  const isHeld = isPaused(resource)
  const isPending = validation.isPending === true
  const readId = 'document' in read ? read.id : undefined
  const lastId = lastGood?.id
  const currentId = validation.good === undefined || isHeld ? (lastId ?? readId) : readId
  const id = currentId ?? recordedId(resource)
  const candidate = validation.good?.id === id ? validation.good : undefined
  return { ...own, id: id ?? '', lastId, candidate, isHeld, isPending }
}

/** The id in its status, unless the resource has never had it because of a conflict. */
const recordedId = ({ summary, conditions = [] }: ApiSpecificationResource): string | undefined =>
  conditions.some(({ reason }) => reason === 'Conflicted') ? undefined : summary?.id

/** Why a document may not serve, if it may not. */
export interface Place {
  readonly isOwner: boolean
  readonly owner: Claimant<ApiSpecificationResource> | undefined
  readonly isHostLost: boolean
  readonly isEntangled: boolean
  readonly lost: readonly Conflict[]
  /** Which resource has each of `lost`. */
  readonly winners: readonly (ApiSpecificationResource | undefined)[]
}

/** @param ownerOf the owner of an id after everything is resolved */
export const placeOf = (
  { key }: Pick<ValidatedDocument, 'key'>,
  { owner, isHostLost, conflicts, isEntangled }: Stand,
  ownerOf: (id: string) => Claimant<ApiSpecificationResource> | undefined,
): Place => {
  const isOwner = owner?.key === key
  const lost = isOwner && !isHostLost ? conflicts : NO_CONFLICTS
  const winners = lost.map(({ winnerId }) => ownerOf(winnerId)?.resource)
  return { isOwner, owner, isHostLost, isEntangled, lost, winners }
}

export const resultAt = (
  { resource, id, read, validation, isHeld }: ValidatedDocument,
  { isOwner, owner, isHostLost, isEntangled, lost, winners }: Place,
  { lastGood, isRevoked }: Served,
): ResourceResult =>
  documentResult(resource, validation, {
    id: lastGood?.document.id ?? id,
    servingRealmUri: lastGood?.document.realmUri,
    ...('document' in read && { host: read.host, realmUri: read.realmUri }),
    routerRealm: routerRealmOf(lastGood?.document ?? validation.good),
    owner: isOwner ? undefined : owner,
    lostClaims: lost.map((conflict, i) => ({ problem: problemOf(conflict), winner: winners[i] })),
    isHostLost,
    isEntangled,
    serving: servingIn(resource, isOwner, { lastGood, isRevoked }),
    isRevoked,
    isHeld: isHeld && waits(validation.good, lastGood?.document),
  })

/** What of a resource serves. */
export interface Served {
  readonly lastGood: LastGood | undefined
  /** Its last good version was taken out of service, as its namespace has lost a right. */
  readonly isRevoked: boolean
}

const servingIn = (
  resource: ApiSpecificationResource,
  isOwner: boolean,
  { lastGood, isRevoked }: Served,
): Serving | undefined => {
  if (lastGood !== undefined) return servingOf(lastGood)
  return isRevoked ? undefined : recordedServing(resource, isOwner)
}

/** A key for caches. */
export const conflictText = (conflict: Conflict): string => JSON.stringify(problemOf(conflict))

const problemOf = ({ claim, winnerId }: Conflict): Problem => conflictProblem(claim, winnerId)

/** Whether the valid version of a paused resource differs from the one that serves. */
const waits = (good: DesiredDocument | undefined, lastGood: DesiredDocument | undefined): boolean =>
  good !== undefined &&
  (good.digest !== lastGood?.digest ||
    JSON.stringify(good.selector) !== JSON.stringify(lastGood.selector))

const servingOf = ({ document, generation }: LastGood): Serving => ({
  generation,
  digest: document.digest,
})

/** After a restart: data planes had loaded it when they last reported, and only the owner of the id may change that. */
const recordedServing = (
  { programmed }: ApiSpecificationResource,
  isOwner: boolean,
): Serving | undefined => (isOwner ? programmed : undefined)

const routerRealmOf = (document: DesiredDocument | undefined): string | undefined =>
  document?.callsRouter === true ? document.realmUri : undefined
