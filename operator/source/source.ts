// Watches the ApiSpecifications and Realms of one class, and the objects that they refer to, in a Kubernetes API
// server. Never writes, and never reads a Secret or ConfigMap that no resource of its namespace names.

import type { Log } from '../../telemetry/log.ts'
import type { Clock } from '../../base/clock.ts'
import { edited } from '../edited-map.ts'
import type { ResourceCache, ResourceSource, SourceNote } from '../resource/resource-source.ts'
import { isToBeDeletedNow, keyOf, type Resource } from '../resource/resource.ts'
import { type OperatorAccount, readRemedy } from '../resource/roles-for.ts'
import { type KubernetesApi, TYPES } from '../kubernetes/client/api.ts'
import { OWN_TYPES } from '../resource/own-types.ts'
import { NewResourceHold } from './new-resource-hold.ts'
import { readNamespace, readOfClass } from './read-object.ts'
import { createReflector as realReflector } from '../kubernetes/watch/reflector.ts'
import type { CreateReflector } from './referenced-object.ts'
import { ReferencedWatches } from './referenced-watches.ts'
import { hasSameContent } from './same-except-status.ts'
import { DeletionConfirmation } from './deletion-confirmation.ts'
import { holdReason, namespacesNote, referencedNotes, failureNote } from './notes.ts'
import { SourceTable } from './table.ts'
import { Watches } from './watches.ts'
import { WatchLog } from '../kubernetes/watch/watch-log.ts'

export interface KubernetesSourceOptions {
  readonly api: KubernetesApi
  readonly namespaces: readonly string[] | 'all'
  readonly className: string
  /** Its namespace and Lease, as it writes them into statuses: they identify resources that have left its class. */
  readonly operator?: string
  readonly clock: Clock
  readonly log: Log
  readonly watchLog?: WatchLog
  readonly createReflector?: CreateReflector
  /** The account that needs a grant where a Secret or ConfigMap may not be read. */
  readonly account: OperatorAccount
  readonly timing?: Partial<SourceTiming>
}

export interface SourceTiming {
  /** Changes within this time make one cache. */
  readonly publishMs: number
  /** The longest wait for the first state of a Secret or ConfigMap once reading fails. */
  readonly referenceWaitMs: number
  /** The same when nothing fails: at 200 requests a second 24,000 are asked for within it. */
  readonly longestReferenceWaitMs: number
  /** Between two reads of a CRD that is away. */
  readonly definitionRetryMs: number
  /** Resources that went with a CRD have this long to be applied again once the CRD is back. */
  readonly definitionReturnMs: number
}

const TIMING: SourceTiming = {
  publishMs: 10,
  referenceWaitMs: 10_000,
  longestReferenceWaitMs: 120_000,
  definitionRetryMs: 2_000,
  definitionReturnMs: 60_000,
}

/** A document may have 4 MiB. */
const DOCUMENT_PAGE = 50
const PAGE = 500

/**
 * @example new KubernetesSource({ api, namespaces: 'all', className: 'svc', account, clock, log })
 */
export class KubernetesSource implements ResourceSource {
  readonly #options: KubernetesSourceOptions
  readonly #timing: SourceTiming
  readonly #table = new SourceTable()
  readonly #specifications: Watches<Resource>
  readonly #realms: Watches<Resource>
  readonly #namespaces: Watches<Resource>
  readonly #referenced: ReferencedWatches
  readonly #deletions: DeletionConfirmation
  readonly #newResources = new NewResourceHold()
  #cancelHold = (): void => undefined
  #onChange: () => void = () => undefined
  #onRenewed: (resource: Resource) => void = () => undefined
  #listed: ReadonlyMap<string, Resource> = new Map()
  #waiting: readonly string[] = []
  #isSynced = false
  #isStopped = false
  #cancelUpdate: (() => void) | undefined
  #confirming: Promise<boolean> | undefined
  #confirmingNext: Promise<boolean> | undefined

  constructor(options: KubernetesSourceOptions) {
    this.#options = options
    this.#timing = { ...TIMING, ...options.timing }
    const { api, clock, log, namespaces, className, operator, account } = options
    const { createReflector = realReflector, watchLog = new WatchLog(options) } = options
    const onChange = (): void => {
      this.#schedule()
    }
    const shared = { api, clock, log, watchLog, createReflector, onChange }
    const read = readOfClass(className, operator)
    const ours = {
      ...shared,
      namespaces,
      pageSize: DOCUMENT_PAGE,
      read,
      mayLack: () => true,
      isGone: (namespace: string) => this.#isGone(namespace),
      hasChanged: (before: Resource, now: Resource) => !hasSameContent(before, now),
      onRenewed: (resource: Resource) => {
        const renewed = this.#table.renew(resource)
        if (renewed !== undefined) this.#onRenewed(renewed)
      },
    }
    this.#specifications = new Watches({ ...ours, type: OWN_TYPES.apiSpecifications })
    this.#realms = new Watches({
      ...ours,
      type: OWN_TYPES.realms,
      onDeleted: (last: Resource) => {
        if (isToBeDeletedNow(last)) this.#table.deletedNow(last)
      },
    })
    this.#namespaces = new Watches({
      ...shared,
      namespaces: 'all',
      pageSize: PAGE,
      type: TYPES.namespaces,
      read: readNamespace,
    })
    this.#referenced = new ReferencedWatches({
      ...shared,
      waitMs: this.#timing.referenceWaitMs,
      longestWaitMs: this.#timing.longestReferenceWaitMs,
      remedy: (kind, namespace) => readRemedy(account, kind, namespace),
    })
    this.#deletions = new DeletionConfirmation({
      ...shared,
      retryMs: this.#timing.definitionRetryMs,
      returnMs: this.#timing.definitionReturnMs,
      onEstablished: () => {
        this.#specifications.tryAgain()
        this.#realms.tryAgain()
      },
    })
  }

  start(
    ...[onChange, onRenewed = () => undefined]: Parameters<ResourceSource['start']>
  ): Promise<void> {
    this.#onChange = onChange
    this.#onRenewed = onRenewed
    this.#deletions.start()
    for (const watches of this.#watches()) watches.start()
    return Promise.resolve()
  }

  synced(): boolean {
    return this.#isSynced
  }

  current(): ResourceCache {
    return this.#table.cache
  }

  /**
   * A call while one is under way gets the next one, since the current one may have listed before what the caller
   * knows.
   */
  confirm(): Promise<boolean> {
    if (this.#confirming === undefined) {
      this.#confirming = this.#confirmNow().finally(() => {
        this.#confirming = undefined
      })
      return this.#confirming
    }
    this.#confirmingNext ??= this.#confirming.then(() => {
      this.#confirmingNext = undefined
      return this.confirm()
    })
    return this.#confirmingNext
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancelUpdate?.()
    this.#cancelHold()
    this.#deletions.stop()
    await Promise.all([...this.#watches(), this.#referenced].map((each) => each.stop()))
  }

  async #confirmNow(): Promise<boolean> {
    const before = await this.#deletions.definitions()
    if (before === undefined) return false
    const listed = await Promise.all([this.#specifications.relist(), this.#realms.relist()])
    const after = await this.#deletions.definitions()
    if (after === undefined || !listed.every(Boolean) || this.#isStopped) return false
    this.#list()
    const isSame = this.#deletions.confirm(this.#table.missing, before, after)
    this.#update()
    return isSame && this.#table.facts.holdDeletes === undefined
  }

  /** Merges many events into one cache. */
  #schedule(): void {
    if (this.#isStopped || this.#cancelUpdate !== undefined) return
    this.#cancelUpdate = this.#options.clock.after(this.#timing.publishMs, () => {
      this.#update()
    })
  }

  #update(): void {
    this.#cancelUpdate?.()
    this.#cancelUpdate = undefined
    const { version } = this.#table.facts
    this.#list()
    const facts = [...this.#specifications.facts(), ...this.#realms.facts()]
    const confirmed = this.#deletions.check(this.#table.missing, {
      areUnknown: facts.some(({ failure }) => failure?.status === NOT_FOUND),
      areListed: this.#isSynced,
    })
    this.#retryGrants()
    const { waiting, renewed } = this.#table.update({
      confirmed,
      others: [...this.#namespaces.takeChanges(), ...this.#referenced.takeChanges()],
      covers: (reference) => this.#referenced.covers(reference),
      forbidden: this.#referenced.forbidden,
      holdDeletes: holdReason(facts) ?? this.#deletions.hold,
      waitsFor: (namespaces) => this.#waitsFor(namespaces),
      notes: this.#notes(),
    })
    this.#waiting = waiting
    // After the table: resources that it keeps still need the objects they refer to.
    const hasLeft = this.#referenced.want(this.#table.wantedObjects)
    if (hasLeft) this.#schedule()
    const wasSynced = this.#isSynced
    this.#isSynced ||= this.#hasAll()
    if (this.#table.facts.version !== version || this.#isSynced !== wasSynced) this.#onChange()
    for (const resource of renewed) this.#onRenewed(resource)
  }

  #list(): void {
    const edits = new Map<string, Resource | undefined>()
    for (const watches of [this.#specifications, this.#realms]) {
      for (const { before, after } of watches.takeChanges()) {
        const resource = after ?? before
        if (resource !== undefined) edits.set(keyOf(resource), after)
      }
    }
    this.#listed = edited(this.#listed, edits)
    this.#table.list(this.#listed)
  }

  /** Nothing is deleted before everything is known anyway. */
  #waitsFor(namespaces: ReadonlySet<string>): boolean {
    this.#cancelHold()
    if (!this.#isSynced) return namespaces.size > 0
    const { clock } = this.#options
    const holdMs = this.#newResources.hold(namespaces, clock.now())
    if (holdMs > 0)
      this.#cancelHold = clock.after(holdMs, () => {
        this.#schedule()
      })
    return holdMs > 0
  }

  /** As far as Namespaces can be read, and their data is up to date. */
  #isGone(namespace: string): boolean {
    const isSure = this.#namespaces
      .facts()
      .every(({ hasSynced, failure }) => hasSynced && failure === undefined)
    if (!isSure) return false
    for (const { metadata } of this.#namespaces.items())
      if (metadata.name === namespace) return false
    return true
  }

  /** A person who edits a resource that lacks a Secret or ConfigMap may just have granted access to it. */
  #retryGrants(): void {
    if (this.#table.facts.forbidden?.size === 0) return
    for (const references of this.#table.changedReferences()) this.#referenced.tryAgain(references)
  }

  #hasAll(): boolean {
    const namespaces = this.#namespaces.facts()
    return (
      this.#specifications.hasSynced &&
      this.#realms.hasSynced &&
      namespaces.every(({ hasSynced, failure }) => hasSynced || failure?.status === FORBIDDEN) &&
      this.#waiting.length === 0 &&
      this.#referenced.hasStates
    )
  }

  #notes(): readonly SourceNote[] {
    return [
      ...this.#specifications.facts().flatMap(failureNote),
      ...this.#realms.facts().flatMap(failureNote),
      ...this.#namespaces.facts().flatMap(namespacesNote),
      ...referencedNotes([...this.#referenced.failures]),
    ]
  }

  #watches(): readonly Watches<Resource>[] {
    return [this.#specifications, this.#realms, this.#namespaces]
  }
}

const FORBIDDEN = 403
const NOT_FOUND = 404
