// Makes of a document that was validated for itself the id that it claims, its place among all others, and the verdict on
// it. Pure: who stands where is settled elsewhere.

import { type Clash, conflictProblem } from '../../../language/routes/conflicts.ts'
import type { Problem } from '../../../language/problem.ts'
import type { DesiredDocument } from '../../desired-set.ts'
import type { NewCondition } from '../../resource/condition.ts'
import { type ApiSpecificationResource, isPaused } from '../../resource/resource.ts'
import { documentVerdict } from './document-verdict.ts'
import type { HostClaimant, LostHosts } from '../claims/host-owners.ts'
import type { ApiSpecificationValidation } from './validate-api-specification.ts'
import type { LastGood } from './last-good.ts'
import type { Claimant } from '../claims/owners.ts'
import type { ReadDocument } from './read-document.ts'
import type { Applicant } from '../claims/settlement.ts'
import type { Serving, Verdict } from '../verdict.ts'

export interface ValidatedDocument
  extends Claimant<ApiSpecificationResource>, HostClaimant, Applicant {
  readonly read: ReadDocument
  readonly validation: ApiSpecificationValidation
  readonly isPending: boolean
  readonly overQuota: NewCondition<'Accepted'> | undefined
}

/** How a document stands to the others. */
export interface Stand {
  /** Of the id that it names. */
  readonly owner: Claimant<ApiSpecificationResource> | undefined
  /** The host that it wants belongs to another namespace. */
  readonly isHostLost: boolean
  /** Of the document that owns the id: claims that it loses. */
  readonly clashes: readonly Clash[]
  /** It is refused with others of its namespace, which can't be told apart in time. */
  readonly isEntangled: boolean
}

export const NO_CLASHES: readonly Clash[] = []
export const NO_LOST_HOSTS: LostHosts = new Map()

type Own = Pick<
  ValidatedDocument,
  'key' | 'resource' | 'read' | 'validation' | 'lastGood' | 'overQuota'
>

/**
 * A version that is not good does not rename: the id that serves stays with its resource. After a restart what can't be
 * read has the id that its status tells, or it could stand for anything that data planes hold.
 */
export const toValidatedDocument = (own: Own): ValidatedDocument => {
  const { resource, read, validation, lastGood } = own
  const isHeld = isPaused(resource)
  const isPending = validation.isPending === true
  const readId = 'document' in read ? read.id : undefined
  const lastId = lastGood?.id
  const told = validation.good === undefined || isHeld ? (lastId ?? readId) : readId
  const id = told ?? recordedId(resource)
  const candidate = validation.good?.id === id ? validation.good : undefined
  return { ...own, id: id ?? '', lastId, candidate, isHeld, isPending }
}

/** An id that it was refused is none of its own. */
const recordedId = ({ summary, conditions = [] }: ApiSpecificationResource): string | undefined =>
  conditions.some(({ reason }) => reason === 'Conflicted') ? undefined : summary?.id

/** What stands in its way. */
export interface Place {
  readonly isOwner: boolean
  readonly owner: Claimant<ApiSpecificationResource> | undefined
  readonly isHostLost: boolean
  readonly isEntangled: boolean
  readonly lost: readonly Clash[]
  /** Of each of `lost`. */
  readonly winners: readonly (ApiSpecificationResource | undefined)[]
}

/** @param ownerOf an id in the end: whose version serves */
export const placeOf = (
  { key }: Pick<ValidatedDocument, 'key'>,
  { owner, isHostLost, clashes, isEntangled }: Stand,
  ownerOf: (id: string) => Claimant<ApiSpecificationResource> | undefined,
): Place => {
  const isOwner = owner?.key === key
  const lost = isOwner && !isHostLost ? clashes : NO_CLASHES
  const winners = lost.map(({ winnerId }) => ownerOf(winnerId)?.resource)
  return { isOwner, owner, isHostLost, isEntangled, lost, winners }
}

export const verdictAt = (
  { resource, id, read, validation, isHeld }: ValidatedDocument,
  { isOwner, owner, isHostLost, isEntangled, lost, winners }: Place,
  lastGood: LastGood | undefined,
): Verdict =>
  documentVerdict(resource, validation, {
    id: lastGood?.document.id ?? id,
    servingRealmUri: lastGood?.document.realmUri,
    ...('document' in read && { host: read.host, realmUri: read.realmUri }),
    routerRealm: routerRealmOf(lastGood?.document ?? validation.good),
    owner: isOwner ? undefined : owner,
    clashes: lost.map((clash, i) => ({ problem: problemOf(clash), winner: winners[i] })),
    isHostLost,
    isEntangled,
    serving: lastGood === undefined ? recordedServing(resource, isOwner) : servingOf(lastGood),
    isHeld: isHeld && waits(validation.good, lastGood?.document),
  })

/** For a memo. */
export const clashText = (clash: Clash): string => JSON.stringify(problemOf(clash))

const problemOf = ({ claim, winnerId }: Clash): Problem => conflictProblem(claim, winnerId)

/** Paused: what it is now is another version than what serves. */
const waits = (good: DesiredDocument | undefined, lastGood: DesiredDocument | undefined): boolean =>
  good !== undefined &&
  (good.digest !== lastGood?.digest ||
    JSON.stringify(good.selector) !== JSON.stringify(lastGood.selector))

const servingOf = ({ document, generation }: LastGood): Serving => ({
  generation,
  digest: document.digest,
})

/** After a restart: data planes were last seen to hold it, and nobody has told them otherwise. */
const recordedServing = (
  { programmed }: ApiSpecificationResource,
  isOwner: boolean,
): Serving | undefined => (isOwner ? programmed : undefined)

const routerRealmOf = (document: DesiredDocument | undefined): string | undefined =>
  document?.callsRouter === true ? document.realmUri : undefined
