// Defines the result of reconciling one resource, without any reports of data planes. Types only.

import type { Quarantined } from '../../compiler/bounded-compiler.ts'
import type { Problem, Warning } from '../../language/problem.ts'
import type { NewCondition, FoundBy } from '../resource/condition.ts'
import type { ApiSpecificationResource, RealmResource } from '../resource/resource.ts'

export interface ResourceResult {
  readonly resource: ApiSpecificationResource | RealmResource
  readonly accepted: NewCondition<'Accepted'>
  readonly resolvedRefs: NewCondition<'ResolvedRefs'>
  /** For an ApiSpecification: conditions that exist only while they are True, and that its document decides. */
  readonly found: FoundBy<'document'>
  /** All of them; a status shows the first eight. */
  readonly errors: readonly Problem[]
  readonly warnings: readonly Warning[]
  /** Document id, or realm uri; absent when it can't be read. */
  readonly id?: string
  /** For an ApiSpecification. */
  readonly host?: string
  readonly realmUri?: string
  /** Namespace of the Realm that an ApiSpecification uses: sidecars of other namespaces do not receive it. */
  readonly realmNamespace?: string
  /** Digest of this generation, if it may be sent. */
  readonly digest?: string
  /** The version in the desired state: this generation, or the last good one. */
  readonly serving?: Serving
  /** This generation serves, although its realm can't be validated now: the reports of data planes show where. */
  readonly servesOn?: boolean
  /** It is being compiled: there is no result for this generation yet. */
  readonly isPending?: boolean
  /** It was too expensive to compile, and must not be tried again. */
  readonly quarantined?: Quarantined
  /** It has left our class, and its status is still the one that we wrote; it is not validated. */
  readonly isReleased?: boolean
  /** Constant hosts of forwards of this generation, if it may be sent. */
  readonly forwardHosts?: readonly string[]
  /** The realm whose router the serving (or else the new) version needs for its operations over WAMP. */
  readonly routerRealm?: string
  /** Its last good version was taken out of service, as its namespace has lost a right, and no other one serves. */
  readonly isRevoked?: boolean
  /** It is paused, and its current version was not sent. */
  readonly isHeld?: boolean
}

export interface Serving {
  readonly generation: number
  readonly digest: string
}
