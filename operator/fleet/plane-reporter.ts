// Reports what one data plane has loaded and in which phase it is, whenever that has changed, and logs changes of the
// phase.

import type { Log } from '../../telemetry/log.ts'
import type { DataPlane, DataPlanePhase, DataPlaneReport } from '../data-plane.ts'
import { sameReport } from './same-report.ts'
import { describeSkew } from './skew.ts'
import type { LoadedState } from './sync/loaded-state.ts'
import type { PlaneMemory, RoundResult } from './sync/plane-memory.ts'
import type { Selection } from './sync/selection.ts'
import { ReportedRealms } from './reported-realms.ts'

export interface PlaneReporterOptions {
  readonly memory: PlaneMemory
  /** The version of this program; absent: differing versions are not reported. */
  readonly version: string | undefined
  readonly log: Log
  /** Undefined: nothing was selected so far. */
  readonly selection: () => Selection | undefined
  /** The data plane was created just now and has not responded so far: then it is no warning that it is unreachable. */
  readonly isStarting: () => boolean
  readonly onReport: (report: DataPlaneReport) => void
}

type Rejected = DataPlaneReport['rejected']

const NOTHING_LOADED: ReturnType<LoadedState['snapshot']> = {
  documents: new Map(),
  realms: new Map(),
}

const NO_REALMS: Selection['realms'] = new Map()
const NO_URIS: Selection['realmUris'] = new Set()

const PHASES_WITHOUT_RESPONSE: ReadonlySet<DataPlanePhase> = new Set([
  'connecting',
  'unreachable',
  'unauthorized',
])

/** The phases of a data plane with which all is well, whatever the message says. */
const NORMAL_PHASES: ReadonlySet<DataPlanePhase> = new Set(['connecting', 'syncing', 'synced'])

export class PlaneReporter {
  readonly #options: PlaneReporterOptions
  #report: DataPlaneReport
  readonly #realms = new ReportedRealms()
  #rejections: { readonly revision: number; readonly of: Rejected } | undefined
  /** What the last report was made of. */
  #madeOf: readonly unknown[] = []
  /** At the last round the data plane was unreachable and still starting. */
  #wasAwaited = false

  constructor(options: PlaneReporterOptions) {
    this.#options = options
    this.#report = this.#describe({ phase: 'connecting', message: '' })
  }

  get report(): DataPlaneReport {
    return this.#report
  }

  /** Does not report: the next round does. */
  relabel(dataPlane: DataPlane): void {
    this.#report = { ...this.#report, dataPlane }
  }

  update(result: RoundResult): void {
    const { memory, selection, isStarting } = this.#options
    const { loaded, rejections, dataPlane } = memory
    const madeOf = [
      result.phase,
      result.message,
      loaded,
      loaded?.revision,
      rejections.revision,
      dataPlane,
      isStarting(),
      selection()?.realms,
    ]
    // A poll that finds no change must not copy what is loaded.
    if (madeOf.every((part, index) => part === this.#madeOf[index])) return
    this.#madeOf = madeOf
    const before = this.#report
    const report = this.#describe(result)
    this.#logPhase(before, report)
    if (sameReport(before, report)) return
    this.#report = report
    this.#options.onReport(report)
  }

  #describe({ phase, message }: Pick<RoundResult, 'phase' | 'message'>): DataPlaneReport {
    const { dataPlane, loaded, rejections } = this.#options.memory
    const version = loaded?.gatewayVersion
    const skew = describeSkew(version, this.#options.version)
    const contents = loaded?.snapshot() ?? NOTHING_LOADED
    const selection = this.#options.selection()
    return {
      dataPlane,
      phase,
      message: [message, skew].filter((words) => words !== '').join('; '),
      ...(version !== undefined && { version }),
      ready: loaded?.complete === true && !PHASES_WITHOUT_RESPONSE.has(phase),
      documents: contents.documents,
      realms: this.#realms.follow(contents.realms, selection?.realms ?? NO_REALMS),
      realmsGiven: selection?.realmUris ?? NO_URIS,
      ...(loaded !== undefined && { upstreams: loaded.upstreams }),
      rejected: this.#rejected(rejections),
    }
  }

  /** The same object while nothing changes. */
  #rejected({ revision, documents, realms }: PlaneMemory['rejections']): Rejected {
    if (this.#rejections?.revision !== revision) {
      const of = { documents: new Map(documents), realms: new Map(realms) }
      this.#rejections = { revision, of }
    }
    return this.#rejections.of
  }

  /** A data plane that starts may be unreachable for a while: only after that it is a warning. */
  #logPhase(before: DataPlaneReport, { dataPlane, phase, message }: DataPlaneReport): void {
    const isAwaited = phase === 'unreachable' && this.#options.isStarting()
    const isLate = this.#wasAwaited && !isAwaited
    this.#wasAwaited = isAwaited
    if (before.phase === phase && !isLate) return
    const { log } = this.#options
    const fields = { dataPlane: dataPlane.name, phase, ...(message !== '' && { reason: message }) }
    if (NORMAL_PHASES.has(phase) || isAwaited) log.info('data plane has changed its phase', fields)
    else log.warn('data plane has changed its phase', fields)
  }
}
