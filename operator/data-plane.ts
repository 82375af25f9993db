// Defines data planes for all rooms of the operator: their address, which documents they are for, and what they were
// last seen to have loaded.

import type { Problem, Warning } from '../language/problem.ts'
import type {
  FailingCredential,
  FailingProvider,
  SessionState,
  UpstreamProblem,
} from '../language/wire/wire.ts'
import { selects } from './resource/label-selector.ts'
import type { LabelSelector } from './resource/resource.ts'

export interface DataPlane {
  /** Unique, stable, for people and metrics. */
  readonly name: string
  /** `http://127.0.0.1:18081`, `https://…` or `unix:/path`. */
  readonly url: string
  readonly labels: Readonly<Record<string, string>>
  /** Absent: of the shared pool. Present: a sidecar of that namespace. */
  readonly namespace?: string
  /** Changes with every restart, after which nothing that was known about it counts. */
  readonly incarnation?: string
  /** Name that its certificate must have, where that is not the host of `url`. */
  readonly serverName?: string
}

/** Where data planes are found: a static list, or labelled Pods. */
export interface DataPlanes {
  /** `onChange` is called with all of them, at once and after every change. */
  start(onChange: (dataPlanes: readonly DataPlane[]) => void): void
  /** False: it is not known yet which there are. No data planes, and none known, are two things. */
  synced(): boolean
  stop(): void
}

export type DataPlanePhase =
  /** Not reached yet. */
  | 'connecting'
  | 'syncing'
  /** It has everything it should have loaded, but for what it rejected. */
  | 'synced'
  /** Deletes are held back (mass-delete guard, or something can't be read). */
  | 'holding'
  /** Not completed: it rejects what another ready data plane serves. */
  | 'withheld'
  | 'unreachable'
  | 'unauthorized'
  /** It belongs to an operator of another name. */
  | 'not_owner'
  /** Another operator of our name has a higher epoch. */
  | 'superseded'

export interface DataPlaneReport {
  readonly dataPlane: DataPlane
  readonly phase: DataPlanePhase
  /** What is wrong and what to do; empty where all is well. */
  readonly message: string
  /** Version of its program, as it reports; absent: it has not responded, or is too old to report it. */
  readonly version?: string
  /** It responds, and a sync call with `complete` was accepted in this boot. */
  readonly ready: boolean
  /** Document id → what it has loaded of ours. */
  readonly documents: ReadonlyMap<string, LoadedDocument>
  readonly realms: ReadonlyMap<string, LoadedRealm>
  /** Uris of the realms that it was sent: its state of others is not read. */
  readonly realmsGiven: ReadonlySet<string>
  /** Upstreams that do not respond there, by id of the document. Absent: it does not report them. */
  readonly upstreams?: ReadonlyMap<string, UpstreamProblem>
  readonly rejected: {
    readonly documents: ReadonlyMap<string, Rejection>
    readonly realms: ReadonlyMap<string, Rejection>
  }
}

export interface LoadedDocument {
  readonly digest: string
  /** `namespace/name` as it was put there; absent: the data plane is older, and does not know it. */
  readonly resource?: string | undefined
  readonly warnings: readonly Warning[]
}

export interface LoadedRealm {
  readonly digest: string
  /**
   * Empty for a realm that it was not sent. Addresses are those of the Realm, or empty; reasons are of a closed list.
   */
  readonly sessions: readonly SessionState[]
  /** Absent: none, or the realm was not sent to it. Names are of the Realm. */
  readonly failingProviders?: readonly FailingProvider[]
  /** Likewise. */
  readonly failingCredentials?: readonly FailingCredential[]
}

export interface Rejection {
  readonly digest: string
  readonly errors: readonly Problem[]
}

/**
 * A Realm contains secrets and signing keys, and everybody with access to a sidecar can read its memory: a sidecar
 * receives only Realms of its own namespace. Data planes of the shared pool belong to the operator.
 * @param realmNamespace of the Realm
 */
export const mayHoldRealm = (
  { namespace }: Pick<DataPlane, 'namespace'>,
  realmNamespace: string,
): boolean => namespace === undefined || namespace === realmNamespace

/**
 * No selector: the shared pool. A sidecar gets only documents of its own namespace that select it.
 * @example isSelected({namespace: 'a'}, {name: 'x', url: '…', labels: {}}) // true
 */
export const isSelected = (
  { selector, namespace }: { readonly selector?: LabelSelector; readonly namespace: string },
  dataPlane: DataPlane,
): boolean => {
  if (dataPlane.namespace !== undefined && dataPlane.namespace !== namespace) return false
  if (selector === undefined) return dataPlane.namespace === undefined
  return selects(selector, dataPlane.labels)
}
