// Makes the result for an ApiSpecification from its validation and its relation to the others. Pure.

import type { Problem } from '../../../language/problem.ts'
import { isSameText } from '../../../language/wire/digest.ts'
import type { NewCondition } from '../../resource/condition.ts'
import type { ApiSpecificationResource } from '../../resource/resource.ts'
import { conflicted, realmDeleted } from '../conditions.ts'
import type { ApiSpecificationValidation } from './validate-api-specification.ts'
import { type Claimant, ownedWords } from '../claims/owners.ts'
import type { Serving, ResourceResult } from '../resource-result.ts'

export interface Standing {
  /** Empty if it is not known. */
  readonly id: string
  readonly host?: string | undefined
  readonly realmUri?: string | undefined
  /** The resource that owns the id which this one names. */
  readonly owner: Claimant<ApiSpecificationResource> | undefined
  /** Its host belongs to another namespace. */
  readonly isHostLost: boolean
  /** See `Stand`. */
  readonly isEntangled: boolean
  readonly lostClaims: readonly LostClaim[]
  readonly serving: Serving | undefined
  /** See `ResourceResult`. */
  readonly isRevoked: boolean
  readonly isHeld: boolean
  /** The realm of the version that serves. */
  readonly servingRealmUri?: string | undefined
  /** See `ResourceResult`. */
  readonly routerRealm?: string | undefined
}

export interface LostClaim {
  readonly problem: Problem
  readonly winner: ApiSpecificationResource | undefined
}

export const documentResult = (
  resource: ApiSpecificationResource,
  validation: ApiSpecificationValidation,
  standing: Standing,
): ResourceResult => {
  const { id, host, realmUri, routerRealm, serving, isHeld, isRevoked } = standing
  const conflicts = conflictsOf(resource, standing)
  const accepted = acceptedOf(validation, conflicts)
  const servesOn = accepted.status === 'True' && isHeldByRealm(validation, serving)
  const digest = servesOn ? serving?.digest : validation.good?.digest
  return {
    resource,
    accepted,
    resolvedRefs: resolvedRefsOf(validation, standing),
    found: validation.found,
    errors: [...conflicts, ...validation.errors],
    warnings: validation.warnings,
    ...(id !== '' && { id }),
    ...namesOf({ host, realmUri, routerRealm }),
    ...carriedOf(validation),
    ...(digest !== undefined && { digest }),
    ...(servesOn && { servesOn }),
    ...(serving !== undefined && { serving }),
    ...(isHeld && { isHeld }),
    ...(isRevoked && { isRevoked }),
  }
}

/** A missing realm that the serving version uses was deleted: it existed once. */
const resolvedRefsOf = (
  { resolvedRefs, isRealmAbsent }: ApiSpecificationValidation,
  { realmUri, servingRealmUri }: Standing,
): NewCondition<'ResolvedRefs'> =>
  isRealmAbsent === true && realmUri !== undefined && realmUri === servingRealmUri
    ? realmDeleted(realmUri)
    : resolvedRefs

const namesOf = ({
  host,
  realmUri,
  routerRealm,
}: Pick<Standing, 'host' | 'realmUri' | 'routerRealm'>): Pick<
  ResourceResult,
  'host' | 'realmUri' | 'routerRealm'
> => ({
  ...(host !== undefined && { host }),
  ...(realmUri !== undefined && { realmUri }),
  ...(routerRealm !== undefined && { routerRealm }),
})

const carriedOf = ({
  good,
  realmNamespace,
  isPending,
  quarantined,
}: ApiSpecificationValidation): Pick<
  ResourceResult,
  'realmNamespace' | 'isPending' | 'quarantined' | 'forwardHosts'
> => ({
  ...(good?.forwardHosts !== undefined && { forwardHosts: good.forwardHosts }),
  ...(realmNamespace !== undefined && { realmNamespace }),
  ...(isPending === true && { isPending }),
  ...(quarantined !== undefined && { quarantined }),
})

/** Whether the version that serves is the newest one, of whose realm nothing is known now. */
const isHeldByRealm = (
  { isRealmHeld, version }: ApiSpecificationValidation,
  serving: Serving | undefined,
): boolean =>
  isRealmHeld === true &&
  version !== undefined &&
  serving !== undefined &&
  isSameText(version.digest, serving.digest)

const acceptedOf = (
  validation: ApiSpecificationValidation,
  conflicts: readonly Problem[],
): NewCondition<'Accepted'> => {
  const first = conflicts[0]
  if (first === undefined || validation.accepted.status === 'False') return validation.accepted
  const more = conflicts.length > 1 ? ` (and ${conflicts.length - 1} more)` : ''
  return conflicted(`${first.path}: ${first.message}${more}`)
}

const conflictsOf = (
  resource: ApiSpecificationResource,
  { host = '', owner, isHostLost, isEntangled, lostClaims }: Standing,
): readonly Problem[] => {
  if (owner !== undefined) {
    const message = ownedWords(`the id '${owner.id}'`, resource, owner.resource)
    return [{ code: 'conflict', path: pointerIn(resource, '/id'), message }]
  }
  if (isHostLost) {
    // The namespace is not told: what others have is theirs to tell.
    const message = `the host '${host}' belongs to documents of another namespace: take another host`
    return [{ code: 'conflict', path: pointerIn(resource, '/host'), message }]
  }
  if (isEntangled) {
    const message =
      'too many documents of this namespace change their ids at once, and wait for each other: restore the ids that ' +
      'they had, then change a few at a time'
    return [{ code: 'conflict', path: pointerIn(resource, '/id'), message }]
  }
  return lostClaims.map(({ problem, winner }) => locate(resource, problem, winner))
}

/** The winner is named only within the namespace. */
const locate = (
  resource: ApiSpecificationResource,
  problem: Problem,
  winner: ApiSpecificationResource | undefined,
): Problem => {
  const path = pointerIn(resource, problem.path)
  const isNeighbour = winner?.metadata.namespace === resource.metadata.namespace
  if (isNeighbour) return { ...problem, path }
  const message = 'an older document of another namespace serves this host, path and method already'
  return { ...problem, path, message }
}

const pointerIn = ({ checked }: ApiSpecificationResource, pointer: string): string =>
  'spec' in checked && checked.spec.document !== undefined
    ? `/spec/document${pointer}`
    : '/spec/documentFrom/configMap'
