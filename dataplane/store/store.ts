// Performs loads, deletes and sync calls: it changes what is loaded and served, one change at a time, and returns a
// result for each entry. A change that fails leaves everything as it was. The plans decide what is accepted, not the
// store.

import { SerialQueue } from '../../base/serial-queue.ts'
import { ConflictIndex } from '../../language/compile/conflicts.ts'
import type {
  FailingCredential,
  FailingProvider,
  SessionState,
  SyncItem,
  UpstreamProblem,
} from '../../language/wire/wire.ts'
import type { Warning } from '../../language/problem.ts'
import type { Log } from '../../telemetry/log.ts'
import { Draft } from './change/draft.ts'
import { fence } from './fencing.ts'
import {
  type Changes,
  type LoadedDocument,
  type LoadedRealm,
  LoadedContent,
  type Ownership,
} from './loaded-content.ts'
import { type ValidateDocument, validateInProcess } from './change/validate-document.ts'
import {
  deleteUnmanaged,
  deleteUnmanagedRealm,
  type UnmanagedContext,
  type UnmanagedResult,
  loadUnmanaged,
  putUnmanagedRealm,
} from './change/plan-unmanaged.ts'
import { planSync } from './change/plan-sync.ts'
import { restoreSnapshot } from './change/restore.ts'
import { isPlain, logItem, logPlainItems } from './log-item.ts'
import { COMPLETION, type Serving, type ServingChange } from './serving.ts'
import type { Snapshot } from './snapshot/snapshot.ts'
import { SnapshotManager } from './snapshot/snapshot-manager.ts'
import { StateVersion } from './state-version.ts'
import { stateView, warningsOf } from './state-view.ts'
import type { Lazy, SyncCall } from './sync-call.ts'
import type { SyncResult } from './sync-result.ts'

export interface StoreOptions {
  readonly serving: Serving
  readonly log: Log
  /** Unix time, milliseconds. */
  readonly now: () => number
  /** New at every start of the process. */
  readonly bootId: string
  readonly gatewayVersion?: string
  /** The operator that owns this gateway; null: loaded by hand. */
  readonly manager: string | null
  /** Whether documents may be loaded by hand beside the manager's. */
  readonly allowUnmanaged: boolean
  readonly snapshot?: Snapshot
  readonly sessionsOf?: (realmUri: string) => readonly SessionState[]
  readonly failingProvidersOf?: (realmUri: string) => readonly FailingProvider[]
  readonly failingCredentialsOf?: (realmUri: string) => readonly FailingCredential[]
  /** What the state view reports, by id of the document; if left out, nothing. */
  readonly upstreamProblems?: () => ReadonlyMap<string, UpstreamProblem>
  readonly observer?: StoreObserver
  /** If left out, documents are compiled synchronously. */
  readonly validate?: ValidateDocument
  /** Validates what was accepted before this start; if left out, `validate` does. */
  readonly validateRestored?: ValidateDocument
  /** Lets other work run between two documents; if left out, `setImmediate`. */
  readonly pause?: () => Promise<void>
  /** How long until a failed write of the snapshot is retried; if left out, 10 000. */
  readonly retrySnapshotMs?: number
}

/** For counters and readiness. Called after the change is in force. */
interface StoreObserver {
  item?(item: SyncItem): void
  snapshotFailing?(isFailing: boolean): void
  /** A sync call of the manager was accepted; `complete` once what is loaded is what it expected. */
  synced?(complete: boolean, items: readonly SyncItem[]): void
}

/** Most changes that wait, including the running one; beyond it callers get `QueueFullError`. */
const MAX_WAITING = 64
const RETRY_SNAPSHOT_MS = 10_000
const REPORTED_AT_ONCE = 16
const NO_CHANGES: Changes = { documents: new Map(), realms: new Map() }

/**
 * @example
 * const store = new Store({ serving, log, now: Date.now, bootId, manager: null, allowUnmanaged: false })
 * await store.restore()
 * const [{ item }] = await store.load([() => document])
 */
export class Store {
  readonly #options: StoreOptions
  readonly #validate: ValidateDocument
  readonly #pause: () => Promise<void>
  readonly #loadedContent = new LoadedContent()
  readonly #index = new ConflictIndex()
  readonly #queue = new SerialQueue(MAX_WAITING)
  readonly #snapshots: SnapshotManager | undefined
  readonly #version: StateVersion
  #ownership: Ownership
  /** The snapshot was restored completely: that stays so after a batch that does not state `complete`. */
  #wasComplete = false
  /** The serving processes know that the manager has sent everything that it has. */
  #isServingComplete = false
  #lastSince = 0

  constructor(options: StoreOptions) {
    this.#options = options
    this.#validate = options.validate ?? validateInProcess()
    this.#pause = options.pause ?? (() => new Promise((resolve) => setImmediate(resolve)))
    this.#version = new StateVersion(options.bootId)
    this.#ownership = { manager: options.manager, epoch: 0, complete: false }
    const { snapshot, retrySnapshotMs = RETRY_SNAPSHOT_MS, observer } = options
    this.#snapshots =
      snapshot &&
      new SnapshotManager(snapshot, {
        retryMs: retrySnapshotMs,
        retry: () => this.#queue.run(() => this.#keep(NO_CHANGES)),
        onFailing: (isFailing) => observer?.snapshotFailing?.(isFailing),
      })
  }

  get manager(): string | null {
    return this.#ownership.manager
  }

  /** The manager whose calls are accepted, and its lowest epoch. */
  get fence(): Pick<Ownership, 'manager' | 'epoch'> {
    return this.#ownership
  }

  /** False: only the manager may change what is loaded. */
  get allowsUnmanaged(): boolean {
    return this.#ownership.manager === null || this.#options.allowUnmanaged
  }

  document(id: string): LoadedDocument | undefined {
    return this.#loadedContent.documents.get(id)
  }

  documents(): readonly LoadedDocument[] {
    return [...this.#loadedContent.documents.values()]
  }

  realm(uri: string): LoadedRealm | undefined {
    return this.#loadedContent.realms.get(uri)
  }

  realms(): readonly LoadedRealm[] {
    return [...this.#loadedContent.realms.values()]
  }

  /** A document's own warnings, and one for each route that another document has, as the state view shows them. */
  warningsOf(document: LoadedDocument): readonly Warning[] {
    return warningsOf(document, this.#index)
  }

  /** The digest of what the manager has loaded, as the state view shows it. */
  get rootDigest(): string {
    return this.#loadedContent.rootDigest(this.#ownership.manager)
  }

  /** Router sessions of a realm, as the state view shows them. */
  sessionsOf(uri: string): readonly SessionState[] {
    return this.#options.sessionsOf?.(uri) ?? []
  }

  /** Identity providers of a realm whose discovery fails, as the state view shows them. */
  failingProvidersOf(uri: string): readonly FailingProvider[] {
    return this.#options.failingProvidersOf?.(uri) ?? []
  }

  /** Credentials of a realm that requests can't be sent with, as the state view shows them. */
  failingCredentialsOf(uri: string): readonly FailingCredential[] {
    return this.#options.failingCredentialsOf?.(uri) ?? []
  }

  /** The state view as JSON; `etag` changes with whatever changes in it. */
  state(): { readonly etag: string; readonly text: () => string } {
    return {
      etag: this.#version.etag,
      text: () => this.#version.text(() => this.#view()),
    }
  }

  /**
   * Call it when something else in the state view has changed: the sessions of a realm, upstreams that do not
   * respond.
   */
  touch(): void {
    this.#version.advance()
  }

  /** Call it before listening. `complete`: everything that a manager had completed in an earlier boot was restored. */
  async restore(): Promise<{ readonly complete: boolean }> {
    const { snapshot, manager, allowUnmanaged, validateRestored } = this.#options
    if (snapshot === undefined) return { complete: false }
    const validate = validateRestored ?? this.#validate
    const context = { validate, manager, allowUnmanaged, pause: this.#pause }
    return this.#queue.run(async () => {
      const restored = await restoreSnapshot(snapshot, context, (plan) => this.#change(plan))
      for (const { managedBy, since } of this.#loadedContent.documents.values())
        if (managedBy === null) this.#lastSince = Math.max(this.#lastSince, since)
      const { epoch, wasComplete, isWhole } = restored
      this.#ownership = { ...this.#ownership, epoch }
      this.#wasComplete = wasComplete && isWhole
      if (wasComplete) await this.#serveCompletion()
      if (restored.needsWriting) await this.#keep(NO_CHANGES)
      return { complete: this.#wasComplete }
    })
  }

  /**
   * Loads documents by hand, one after the other, served together. Rejects with what a `Lazy` throws, with nothing
   * changed.
   */
  load(documents: readonly Lazy[]): Promise<readonly UnmanagedResult[]> {
    return this.#loadUnmanaged(async (draft, context) => {
      const results: UnmanagedResult[] = []
      for (const document of documents) {
        results.push(await loadUnmanaged(draft, document(), context))
        await this.#pause()
      }
      return results
    })
  }

  delete(id: string): Promise<UnmanagedResult> {
    return this.#loadUnmanaged((draft) => Promise.resolve(deleteUnmanaged(draft, id)))
  }

  putRealm(record: unknown): Promise<UnmanagedResult> {
    return this.#loadUnmanaged((draft) => Promise.resolve(putUnmanagedRealm(draft, record)))
  }

  deleteRealm(uri: string): Promise<UnmanagedResult> {
    return this.#loadUnmanaged((draft) => Promise.resolve(deleteUnmanagedRealm(draft, uri)))
  }

  /** Builds the table once; a rejected entry keeps its last good version. */
  sync(call: SyncCall): Promise<SyncResult> {
    return this.#queue.run(async () => {
      const { manager } = this.#ownership
      const { number: versionBefore } = this.#version
      const fencing = fence(this.#ownership, call, () => this.#loadedContent.rootDigest(manager))
      const isNewEpoch = this.#adopt({ epoch: fencing.epoch })
      if (!fencing.pass) {
        if (isNewEpoch) await this.#keep(NO_CHANGES)
        return fencing.refusal
      }
      const context = { validate: this.#validate, nowMs: this.#options.now(), pause: this.#pause }
      const { result, draft } = await this.#change((draft) => planSync(draft, call, context))
      const items = result.map((item) => this.#withShadows(item))
      const rootDigest = this.#loadedContent.rootDigest(manager)
      const isComplete = call.complete === rootDigest
      if (isComplete) await this.#serveCompletion()
      const isNewlyComplete = isComplete && this.#adopt({ complete: true })
      const changeCount = [isNewEpoch, isNewlyComplete, !draft.isEmpty].filter(Boolean).length
      const isAllReported = !isNewEpoch && reportEverything(items, call, draft)
      const step = isAllReported ? this.#version.stepFrom(versionBefore, changeCount) : {}
      if (changeCount > 0) await this.#keep(draft)
      await this.#report(items)
      this.#options.observer?.synced?.(isComplete, items)
      return call.complete === undefined || isComplete
        ? { reason: 'done', rootDigest, items, ...step }
        : this.#incomplete(rootDigest, items)
    })
  }

  /** Resolves when the running change has ended and the snapshot is written. */
  async close(): Promise<void> {
    await this.#queue.idle()
    await this.#snapshots?.close()
  }

  async #loadUnmanaged<T extends UnmanagedResult | readonly UnmanagedResult[]>(
    plan: (draft: Draft, context: UnmanagedContext) => Promise<T>,
  ): Promise<T> {
    return this.#queue.run(async () => {
      const context = {
        validate: this.#validate,
        nowMs: this.#options.now(),
        nextSince: () => (this.#lastSince = Math.max(this.#options.now(), this.#lastSince + 1)),
      }
      const { result, draft } = await this.#change((draft) => plan(draft, context))
      if (!draft.isEmpty) await this.#keep(draft)
      const results: readonly UnmanagedResult[] = 'item' in result ? [result] : result
      await this.#report(results.map(({ item }) => item))
      return result
    })
  }

  /** Plans on a draft, then serves and stores the result; or rolls back and rejects. */
  async #change<T>(
    plan: (draft: Draft) => Promise<T>,
  ): Promise<{ readonly result: T; readonly draft: Draft }> {
    const draft = new Draft(this.#loadedContent, this.#index)
    try {
      const result = await plan(draft)
      if (!draft.isEmpty) await this.#serve(draft.servingChange())
      if (!draft.isEmpty) this.#version.advance()
      draft.commit()
      return { result, draft }
    } catch (error) {
      draft.rollback()
      throw error
    }
  }

  async #serve(change: ServingChange): Promise<void> {
    await this.#options.serving.apply(change)
    if (change.isComplete === true) this.#isServingComplete = true
  }

  /** Tells the serving processes, once, that the manager has sent everything: no change of documents says so. */
  async #serveCompletion(): Promise<void> {
    if (!this.#isServingComplete) await this.#serve(COMPLETION)
  }

  /** True if something has changed. */
  #adopt(changed: Partial<Ownership>): boolean {
    const ownership = { ...this.#ownership, ...changed }
    const { epoch, complete } = this.#ownership
    if (ownership.epoch === epoch && ownership.complete === complete) return false
    this.#ownership = ownership
    this.#version.advance()
    return true
  }

  async #keep(changes: Changes): Promise<void> {
    const complete = this.#ownership.complete || this.#wasComplete
    await this.#snapshots?.keep(changes, { ...this.#ownership, complete })
  }

  #incomplete(rootDigest: string, items: readonly SyncItem[]): SyncResult {
    const held = this.#loadedContent.entriesOf(this.#ownership.manager)
    return { reason: 'incomplete', rootDigest, items, held }
  }

  #withShadows(item: SyncItem): SyncItem {
    const document = item.kind === 'spec' ? this.#loadedContent.documents.get(item.id) : undefined
    if (document === undefined || item.result === 'rejected') return item
    return { ...item, warnings: warningsOf(document, this.#index) }
  }

  #view(): ReturnType<typeof stateView> {
    const { bootId, gatewayVersion } = this.#options
    return stateView({
      loadedContent: this.#loadedContent,
      index: this.#index,
      ownership: this.#ownership,
      bootId,
      gatewayVersion,
      version: this.#version.number,
      sessionsOf: (uri) => this.sessionsOf(uri),
      failingProvidersOf: (uri) => this.failingProvidersOf(uri),
      failingCredentialsOf: (uri) => this.failingCredentialsOf(uri),
      upstreamProblems: this.#options.upstreamProblems?.() ?? new Map(),
    })
  }

  /** A line costs up to 0.4 ms: a large batch that is rejected must not delay other work. */
  async #report(items: readonly SyncItem[]): Promise<void> {
    const { log, observer } = this.#options
    logPlainItems(log, items)
    for (const [index, item] of items.entries()) {
      if (index % REPORTED_AT_ONCE === REPORTED_AT_ONCE - 1) await this.#pause()
      if (!isPlain(item)) logItem(log, item)
      observer?.item?.(item)
    }
  }
}

/**
 * Whether `items` report everything that a call has changed in the state view: the call only puts documents, as anything
 * else may change sessions of realms and reports of upstreams too, and no other document has lost or won routes.
 */
const reportEverything = (
  items: readonly SyncItem[],
  { realms, specs }: SyncCall,
  { concerned }: Draft,
): boolean => {
  const reported = new Set(items.map(({ id }) => id))
  const onlyPutsDocuments = realms.put.length + realms.delete.length + specs.delete.length === 0
  return onlyPutsDocuments && [...concerned].every((id) => reported.has(id))
}
