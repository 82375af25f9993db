// Defines what reconciling says of one resource, before any data plane was asked. Types only.

import type { Quarantined } from '../../compiler/bounded-compiler.ts'
import type { Problem, Warning } from '../../language/problem.ts'
import type { NewCondition, FoundBy } from '../resource/condition.ts'
import type { ApiSpecificationResource, RealmResource } from '../resource/resource.ts'

export interface Verdict {
  readonly resource: ApiSpecificationResource | RealmResource
  readonly accepted: NewCondition<'Accepted'>
  readonly resolvedRefs: NewCondition<'ResolvedRefs'>
  /** Of an ApiSpecification: conditions that it has only while they are True, and that its document decides. */
  readonly found: FoundBy<'document'>
  /** All of them; a status shows the first eight. */
  readonly errors: readonly Problem[]
  readonly warnings: readonly Warning[]
  /** Document id, or realm uri; absent when it can't be read. */
  readonly id?: string
  /** Of an ApiSpecification. */
  readonly host?: string
  readonly realmUri?: string
  /** Of the Realm that an ApiSpecification may use: sidecars of other namespaces do not receive it. */
  readonly realmNamespace?: string
  /** Digest of this generation, when it may be put. */
  readonly digest?: string
  /** What the desired set holds for the resource: this generation, or the last good one. */
  readonly serving?: Serving
  /** This very generation serves, though its realm can't be validated now: the data planes tell whether they hold it. */
  readonly servesOn?: boolean
  /** It is being compiled: nothing can be said of this generation yet. */
  readonly isPending?: boolean
  /** It was too expensive to compile: not to be tried again. */
  readonly quarantined?: Quarantined
  /** It has left our class, and its status still says what we wrote: nothing of it is validated. */
  readonly isReleased?: boolean
  /** Realm whose router the version that serves, or is to serve, needs: it has operations over WAMP. */
  readonly routerRealm?: string
  /** Paused, and what it is now has not been put. */
  readonly isHeld?: boolean
}

export interface Serving {
  readonly generation: number
  readonly digest: string
}
