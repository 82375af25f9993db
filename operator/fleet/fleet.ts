// Brings every data plane in line with its part of the desired state, with a worker for each, and collects their reports.

import { isSameSet } from '../../base/same-entries.ts'
import { isSameText } from '../../language/wire/digest.ts'
import type { Log } from '../../telemetry/log.ts'
import { type DataPlane, type DataPlaneReport, type DataPlanes, isSelected } from '../data-plane.ts'
import type { DesiredDocument, DesiredSet } from '../desired-set.ts'
import { type Clock, SYSTEM_CLOCK } from '../../base/clock.ts'
import { Limiter } from '../../base/limiter.ts'
import { SecureContexts } from './client/connections.ts'
import { FleetCounter, type FleetCounters } from './sync/counters.ts'
import type { Credentials } from './client/credentials.ts'
import { createContentShare } from './sync/loaded-contents.ts'
import { ManagementClient } from './management-client.ts'
import type { MassDeleteGuard } from './sync/mass-delete-guard.ts'
import { Neighbourhoods } from './neighbourhood.ts'
import type { FleetContext } from './sync/plane-memory.ts'
import { Recency } from './sync/recency.ts'
import { Selections } from './sync/selection.ts'
import type { Holder, WantedVersion } from './recover-source.ts'
import { SyncBodies } from './sync/sync-body.ts'
import { type EndpointSource, isAbsent } from '../service-endpoints.ts'
import type { EpochSource } from '../epoch.ts'
import { type ServiceScope, WantedServices } from './wanted-services.ts'
import { Withholding } from './sync/withholding.ts'
import { Worker, type WorkerEndpoints } from './worker.ts'

export interface FleetOptions {
  readonly dataPlanes: DataPlanes
  /** The name under which data planes are managed. */
  readonly manager: string
  readonly epochSource: EpochSource
  /**
   * Called before every call, so it should be quick; connections are recreated when its result has changed. The
   * reason of a rejection stands in the report.
   */
  readonly credentials: (dataPlane: DataPlane) => Promise<Credentials>
  readonly log: Log
  /** After every change of a report, and for a data plane that is new. */
  readonly onReport: (report: DataPlaneReport) => void
  /** Called when `absentServices` has changed. */
  readonly onServices?: () => void
  /** A data plane is gone: its report too. */
  readonly onGone?: (name: string) => void
  readonly confirmDeletes: () => Promise<boolean>
  /** The version of this program: data planes of another version are reported as such. */
  readonly version?: string
  /** Tells of the Pods of Services that documents name; left out: gateways reach them by their own address. */
  readonly endpoints?: FleetEndpoints
  readonly clock?: Clock
  readonly pollMs?: number
  readonly timeoutMs?: number
  /** How long documents of one namespace may keep fresh data planes out of service; 0: never. */
  readonly withholdMs?: number
  readonly limits?: Partial<FleetLimits>
}

export interface ReachableDataPlane {
  readonly name: string
  readonly client: ManagementClient
  readonly isReady: boolean
  readonly isShared: boolean
}

export interface FleetEndpoints extends ServiceScope {
  readonly source: EndpointSource
}

export interface FleetLimits {
  /** Rounds that may run at once; one that receives nothing for `patienceMs` does not count. */
  readonly rounds: number
  /** Bytes of bodies that are being sent. */
  readonly bodyBytes: number
  readonly patienceMs: number
}

const POLL_MS = 5_000
const TIMEOUT_MS = 10_000
const WITHHOLD_MS = 300_000
const LIMITS: FleetLimits = { rounds: 32, bodyBytes: 64 * 1024 * 1024, patienceMs: 2_000 }

/** Bytes of calls that report Pods: enough for a hundred gateways at once. */
const ENDPOINT_BYTES = 32 * 1024 * 1024

/** May be started again after it was stopped: it knows nothing then, and waits for `apply`. */
export class Fleet {
  readonly #workers = new Map<string, Worker>()
  /** Workers of data planes that are gone, until they have ended. */
  readonly #leaving = new Set<Promise<void>>()
  readonly #options: FleetOptions
  readonly #contexts = new SecureContexts()
  readonly #counter = new FleetCounter()
  readonly #shared: FleetContext
  readonly #limits: FleetLimits
  readonly #neighbourhoods: Neighbourhoods
  readonly #services: WantedServices | undefined
  readonly #endpointBytes = new Limiter(ENDPOINT_BYTES)
  #wanted: ReadonlySet<string> = new Set()
  #absent: ReadonlySet<string> = new Set()
  #selections: Selections | undefined

  constructor(options: FleetOptions) {
    const { manager, epochSource, log, confirmDeletes, version } = options
    const { clock = SYSTEM_CLOCK, pollMs = POLL_MS, withholdMs = WITHHOLD_MS } = options
    this.#options = options
    this.#limits = { ...LIMITS, ...options.limits }
    this.#services = options.endpoints && new WantedServices(options.endpoints)
    this.#neighbourhoods = new Neighbourhoods(this.#limits.rounds)
    this.#shared = {
      manager,
      epochSource,
      log,
      confirmDeletes,
      version,
      clock,
      bodies: new SyncBodies(),
      shareContents: createContentShare(),
      recency: new Recency(),
      counter: this.#counter,
      bodyBytes: new Limiter(this.#limits.bodyBytes),
      withholding: new Withholding(withholdMs, clock),
      waiting: new Set(),
      freshMs: pollMs - 1,
    }
  }

  start(): void {
    this.#options.endpoints?.source.start(() => {
      for (const worker of this.#workers.values()) worker.wakeEndpoints()
      this.#findAbsent()
    })
    this.#options.dataPlanes.start((dataPlanes) => {
      this.#adopt(dataPlanes)
    })
  }

  /** Every data plane is brought to hold its part of `desired`; the first call starts the work. */
  apply(desired: DesiredSet): void {
    this.#shared.recency.note(desired)
    this.#shared.bodies.forget()
    this.#selections = new Selections(desired, this.#selections)
    const services = this.#services?.update(desired.documents)
    if (services !== undefined) {
      this.#options.endpoints?.source.want(services)
      this.#wanted = services
      this.#findAbsent()
    }
    for (const worker of this.#workers.values()) worker.update(this.#selections)
  }

  /** The wanted Services that do not exist; the same set while nothing changes. */
  get absentServices(): ReadonlySet<string> {
    return this.#absent
  }

  #findAbsent(): void {
    const { endpoints, onServices } = this.#options
    const absent = new Set([...this.#wanted].filter((key) => isAbsent(endpoints?.source.of(key))))
    if (isSameSet(absent, this.#absent)) return
    this.#absent = absent
    onServices?.()
  }

  reports(): readonly DataPlaneReport[] {
    return Array.from(this.#workers.values(), ({ report }) => report)
  }

  /** Those that a person may ask something. */
  reachable(): readonly ReachableDataPlane[] {
    return Array.from(this.#workers, ([name, { client, report }]) => ({
      name,
      client,
      isReady: report.ready,
      isShared: report.dataPlane.namespace === undefined,
    }))
  }

  /** Since the fleet was made; those of a data plane since it is there. */
  counters(): FleetCounters {
    return this.#counter.read({
      dataPlanes: new Map(Array.from(this.#workers, ([name, { counts }]) => [name, counts])),
      roundsAtWork: this.#neighbourhoods.permitsInUse,
      bodyBytesInFlight: this.#shared.bodyBytes.used,
    })
  }

  /**
   * The ready data planes that hold a version, for `RecoverSource`: of sidecars those of its namespace alone, and
   * after the others.
   */
  holders({ id, digest, namespace }: WantedVersion): readonly Holder[] {
    const holders: Holder[] = []
    const sidecars: Holder[] = []
    for (const { report, client } of this.#workers.values()) {
      const { dataPlane } = report
      const held = report.ready ? idOf(report, digest, id) : undefined
      if (held === undefined || !mayDecideAbout(namespace, dataPlane)) continue
      const key = `${dataPlane.name} ${dataPlane.incarnation ?? ''}`.trim()
      const kind = dataPlane.namespace === undefined ? holders : sidecars
      kind.push({ key, source: () => client.source(held) })
    }
    return [...holders, ...sidecars]
  }

  /** Breaks off what is under way: nothing is sent when it has resolved. */
  async stop(): Promise<void> {
    this.#options.dataPlanes.stop()
    for (const name of [...this.#workers.keys()]) this.#remove(name)
    this.#selections = undefined
    await Promise.all([...this.#leaving, this.#options.endpoints?.source.stop()])
  }

  #adopt(dataPlanes: readonly DataPlane[]): void {
    const wanted = new Map(dataPlanes.map((dataPlane) => [dataPlane.name, dataPlane]))
    for (const name of [...this.#workers.keys()]) {
      if (wanted.has(name)) continue
      this.#remove(name)
      this.#options.onGone?.(name)
    }
    for (const dataPlane of wanted.values()) this.#keepOrReplace(dataPlane)
    this.#neighbourhoods.retain(new Set(dataPlanes.map(({ namespace }) => namespace)))
  }

  #keepOrReplace(dataPlane: DataPlane): void {
    const worker = this.#workers.get(dataPlane.name)
    const before = worker?.report.dataPlane
    if (worker === undefined || before === undefined) {
      this.#add(dataPlane)
    } else if (before !== dataPlane && !isSameProcess(before, dataPlane)) {
      this.#remove(dataPlane.name)
      this.#add(dataPlane, worker.guard)
    } else if (before !== dataPlane && !sameLabels(before.labels, dataPlane.labels)) {
      worker.relabel(dataPlane)
      this.#wakeWhoWaitsFor(worker.report)
    }
  }

  /** @param guard of the same data plane before it was restarted, as a restart must not bypass it */
  #add(dataPlane: DataPlane, guard?: MassDeleteGuard): void {
    const { name } = dataPlane
    const { credentials, onReport, pollMs = POLL_MS, timeoutMs = TIMEOUT_MS } = this.#options
    const { budget, acquirePermit } = this.#neighbourhoods.of(dataPlane)
    const worker = new Worker(dataPlane, {
      client: new ManagementClient(dataPlane, {
        credentials,
        timeoutMs,
        clock: this.#shared.clock,
        contexts: this.#contexts,
        budget,
        onExcess: (reason) => {
          this.#counter.excess()
          const words =
            'data plane has sent a larger response than it may: it is not called for ten minutes'
          this.#shared.log.warn(words, { dataPlane: name, reason })
        },
      }),
      fleet: this.#shared,
      acquirePermit,
      pollMs,
      onReport: (report) => {
        onReport(report)
        this.#wakeWhoWaitsFor(report)
      },
      patienceMs: this.#limits.patienceMs,
      isElsewhere: (wanted) =>
        this.#isServedBy((report) => serves(report, wanted.id, wanted), name),
      isHeldElsewhere: (id, digest) =>
        this.#isServedBy((report) => vouches(report, dataPlane, { id, digest }), name),
      ...(guard !== undefined && { guard }),
      ...this.#endpointsOf(),
    })
    this.#workers.set(name, worker)
    onReport(worker.report)
    if (this.#selections !== undefined) worker.update(this.#selections)
  }

  #endpointsOf(): { readonly endpoints?: WorkerEndpoints } {
    const { source } = this.#options.endpoints ?? {}
    const services = this.#services
    if (source === undefined || services === undefined) return {}
    return {
      endpoints: {
        source,
        bodyBytes: this.#endpointBytes,
        wantedBy: (dataPlane, selection) => services.for(dataPlane, selection),
      },
    }
  }

  #remove(name: string): void {
    const ending = this.#workers.get(name)?.stop()
    this.#workers.delete(name)
    this.#shared.waiting.delete(name)
    if (ending === undefined) return
    const leaving = ending.finally(() => this.#leaving.delete(leaving))
    this.#leaving.add(leaving)
  }

  /** @param except name of the data plane that is decided about */
  #isServedBy(isServing: (report: DataPlaneReport) => boolean, except: string): boolean {
    for (const [name, { report }] of this.#workers)
      if (name !== except && isServing(report)) return true
    return false
  }

  /** Those that keep a document until this one has it. */
  #wakeWhoWaitsFor(report: DataPlaneReport): void {
    const documents = this.#selections?.desired.documents
    for (const name of this.#shared.waiting) {
      const worker = this.#workers.get(name)
      if (worker === undefined || name === report.dataPlane.name) continue
      if (worker.waitsFor.some((id) => serves(report, id, documents?.get(id)))) worker.wake()
    }
  }
}

/**
 * Whether what another data plane serves may keep one out of service: a sidecar, which may claim to serve anything, only
 * those of its own namespace.
 * @param namespace of the data plane that is decided about
 */
const mayDecideAbout = (namespace: string | undefined, other: DataPlane): boolean =>
  other.namespace === undefined || other.namespace === namespace

/** Whether the data plane serves the version that `fresh` rejects, so that the document is not at fault. */
const vouches = (
  { ready, documents, dataPlane }: DataPlaneReport,
  fresh: DataPlane,
  { id, digest }: Pick<DesiredDocument, 'id' | 'digest'>,
): boolean =>
  ready && documents.get(id)?.digest === digest && mayDecideAbout(fresh.namespace, dataPlane)

/** @param wanted absent: any data plane will do; else one that it selects */
const serves = (
  { ready, documents, dataPlane }: DataPlaneReport,
  id: string,
  wanted: DesiredDocument | undefined,
): boolean => ready && documents.has(id) && (wanted === undefined || isSelected(wanted, dataPlane))

const idOf = (
  { documents }: DataPlaneReport,
  digest: string,
  id: string | undefined,
): string | undefined => {
  const candidates = id === undefined ? documents.keys() : [id]
  for (const candidate of candidates) {
    const held = documents.get(candidate)
    if (held !== undefined && isSameText(held.digest, digest)) return candidate
  }
  return undefined
}

/** What is known of the one is true of the other. */
const isSameProcess = (left: DataPlane, right: DataPlane): boolean =>
  left.url === right.url &&
  left.incarnation === right.incarnation &&
  left.serverName === right.serverName &&
  left.namespace === right.namespace

const sameLabels = (
  left: Readonly<Record<string, string>>,
  right: Readonly<Record<string, string>>,
): boolean => {
  const keys = Object.keys(left)
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && left[key] === right[key])
  )
}
