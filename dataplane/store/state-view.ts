// Builds the response of `GET /api_specs?view=state` (architecture, *Management API*) from what is loaded.

import { conflictProblem, type ConflictIndex } from '../../language/compile/conflicts.ts'
import type { Warning } from '../../language/problem.ts'
import {
  reportedCredentials,
  reportedProviders,
  reportedSessions,
  reportedWarnings,
} from '../../language/wire/report-bounds.ts'
import type {
  FailingCredential,
  FailingProvider,
  RealmState,
  SessionState,
  StateView,
  UpstreamProblem,
} from '../../language/wire/wire.ts'
import type { LoadedDocument, LoadedContent, LoadedRealm, Ownership } from './loaded-content.ts'

export interface StateFacts {
  readonly loadedContent: LoadedContent
  readonly index: ConflictIndex
  readonly ownership: Ownership
  readonly bootId: string
  readonly version: number
  readonly gatewayVersion: string | undefined
  readonly sessionsOf: (realmUri: string) => readonly SessionState[]
  readonly failingProvidersOf: (realmUri: string) => readonly FailingProvider[]
  readonly failingCredentialsOf: (realmUri: string) => readonly FailingCredential[]
  /** The problem of each document, by its id. */
  readonly upstreamProblems: ReadonlyMap<string, UpstreamProblem>
}

export const stateView = (facts: StateFacts): StateView => {
  const { loadedContent, index, ownership, bootId, version, gatewayVersion, upstreamProblems } =
    facts
  return {
    bootId,
    version,
    ...(gatewayVersion !== undefined && { gatewayVersion }),
    manager: ownership.manager,
    epoch: ownership.epoch,
    rootDigest: loadedContent.rootDigest(ownership.manager),
    complete: ownership.complete,
    // All are own members, also one that is called __proto__: `fromEntries` defines, it does not assign.
    specs: Object.fromEntries(
      [...loadedContent.documents.values()].map((document) => [
        document.id,
        {
          digest: document.digest,
          managedBy: document.managedBy,
          ...(document.managedBy !== null && { resource: document.resource ?? '' }),
          warnings: reportedWarnings(warningsOf(document, index)),
        },
      ]),
    ),
    realms: Object.fromEntries(
      [...loadedContent.realms.values()].map((realm) => [realm.uri, realmState(realm, facts)]),
    ),
    ...(upstreamProblems.size > 0 && {
      upstreams: Object.fromEntries(
        [...upstreamProblems].filter(([id]) => loadedContent.documents.has(id)),
      ),
    }),
  }
}

const realmState = (
  { uri, digest, managedBy }: LoadedRealm,
  { sessionsOf, failingProvidersOf, failingCredentialsOf }: StateFacts,
): RealmState => {
  const sessions = reportedSessions(sessionsOf(uri))
  const failingProviders = reportedProviders(failingProvidersOf(uri), sessions)
  const failingCredentials = reportedCredentials(failingCredentialsOf(uri), {
    sessions,
    failingProviders,
  })
  return {
    digest,
    managedBy,
    sessions,
    ...(failingProviders.length > 0 && { failingProviders }),
    ...(failingCredentials.length > 0 && { failingCredentials }),
  }
}

/** A document's own warnings, and one for each claim that it has lost to another document. */
export const warningsOf = (document: LoadedDocument, index: ConflictIndex): readonly Warning[] => {
  const conflicts = index.conflictsOf(document.id)
  if (conflicts.length === 0) return document.warnings
  const shadowed = conflicts.map(({ claim, winnerId }): Warning => {
    const { path, message } = conflictProblem(claim, winnerId)
    return { code: 'Shadowed', path, message }
  })
  return [...document.warnings, ...shadowed]
}
