// Watches one Secret or ConfigMap that resources refer to, by its name. A known state is kept while a new one is on
// its way; an object that can't be read never delays others for longer than a given time.

import type { ValueMap } from '../../language/expression/value.ts'
import type { Log } from '../../telemetry/log.ts'
import type { Clock } from '../../base/clock.ts'
import type { ConfigMapResource, SecretResource } from '../resource/resource.ts'
import { type KubernetesApi, TYPES } from '../kubernetes/client/api.ts'
import { readKeyed } from './read-object.ts'
import { coversKey, sameKeys, type WantedKeys, type WantedObject } from './referenced-objects.ts'
import type { WatchLog } from '../kubernetes/watch/watch-log.ts'
import type { Watched, WatchedOptions, WatchFailure } from '../kubernetes/watch/watched.ts'

export type CreateReflector = <T>(options: WatchedOptions<T>) => Watched<T>

export type KeyedResource = SecretResource | ConfigMapResource

export type ObjectState =
  /** Not yet. */
  | { readonly phase: 'waiting' }
  | { readonly phase: 'found'; readonly resource: KeyedResource }
  | { readonly phase: 'missing' }
  | { readonly phase: 'forbidden' }
  /** The time to wait is over. */
  | { readonly phase: 'unreachable' }

export interface ReferencedObjectOptions {
  readonly api: KubernetesApi
  readonly createReflector: CreateReflector
  readonly clock: Clock
  readonly log: Log
  readonly watchLog: WatchLog
  /** The longest wait for a first state once reading fails; otherwise it is on its way. */
  readonly waitMs: number
  /**
   * The longest wait in any case: a namespace may name more objects than can be read in hours, and others wait with it.
   */
  readonly longestWaitMs: number
  readonly onChange: () => void
}

/** One watch, with the keys that it keeps. */
interface View {
  readonly keys: WantedKeys
  readonly watched: Watched<KeyedResource>
  readonly cancelWait: () => void
  isOverdue: boolean
  isGivenUp: boolean
}

export class ReferencedObject {
  readonly #wanted: WantedObject
  readonly #options: ReferencedObjectOptions
  #view: View
  /** A watch with other keys; replaces `#view` when its state is known. */
  #next: View | undefined
  readonly #stopping = new Set<Promise<void>>()
  #isStopped = false

  constructor(wanted: WantedObject, options: ReferencedObjectOptions) {
    this.#wanted = wanted
    this.#options = options
    this.#view = this.#open(wanted.keys)
    this.#view.watched.start()
  }

  /** Other keys need another watch, as a watch drops the values of unwanted keys. */
  want(keys: WantedKeys): void {
    if (sameKeys(keys, (this.#next ?? this.#view).keys)) return
    this.#close(this.#next)
    this.#next = sameKeys(keys, this.#view.keys) ? undefined : this.#open(keys)
    this.#next?.watched.start()
  }

  get state(): ObjectState {
    return this.#stateOf(this.#view)
  }

  get failure(): WatchFailure | undefined {
    return (this.#next ?? this.#view).watched.failure
  }

  /** Its state is known, and with it `key`. */
  covers(key: string | undefined): boolean {
    const { phase } = this.state
    if (phase === 'waiting') return false
    if (phase !== 'found' || coversKey(this.#view.keys, key)) return true
    return this.#next !== undefined && this.#stateOf(this.#next).phase === 'unreachable'
  }

  /** To be called when it can probably be read now; by itself it is tried every 30 s at most. */
  tryAgain(): void {
    if (this.state.phase === 'forbidden') void this.#view.watched.relist()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#close(this.#next)
    this.#close(this.#view)
    await Promise.all(this.#stopping)
  }

  #open(keys: WantedKeys): View {
    const { kind, namespace, name } = this.#wanted
    const { api, createReflector, clock, log, watchLog, waitMs, longestWaitMs } = this.#options
    const watched = createReflector<KeyedResource>({
      api,
      type: kind === 'Secret' ? TYPES.secrets : TYPES.configMaps,
      namespace,
      fieldSelector: `metadata.name=${name}`,
      pageSize: PAGE,
      read: (object: ValueMap) => readKeyed(keys)(object),
      onChange: () => {
        this.#changed()
      },
      clock,
      log,
      watchLog,
    })
    const waits = [
      clock.after(waitMs, () => {
        view.isOverdue = true
        this.#changed()
      }),
      clock.after(longestWaitMs, () => {
        view.isGivenUp = true
        if (!watched.hasSynced) this.#changed()
      }),
    ]
    const cancelWait = (): void => {
      for (const cancel of waits) cancel()
    }
    const view: View = { keys, watched, isOverdue: false, isGivenUp: false, cancelWait }
    return view
  }

  #changed(): void {
    if (this.#isStopped) return
    if (this.#next !== undefined && !NOT_KNOWN.has(this.#stateOf(this.#next).phase)) {
      this.#close(this.#view)
      this.#view = this.#next
      this.#next = undefined
    }
    this.#options.onChange()
  }

  #stateOf({ watched, isOverdue, isGivenUp }: View): ObjectState {
    if (watched.failure?.status === FORBIDDEN) return { phase: 'forbidden' }
    if (!watched.hasSynced) {
      const isLate = isGivenUp || (isOverdue && watched.failure !== undefined)
      return { phase: isLate ? 'unreachable' : 'waiting' }
    }
    const resource = watched.items.get(`${this.#wanted.namespace}/${this.#wanted.name}`)
    return resource === undefined ? { phase: 'missing' } : { phase: 'found', resource }
  }

  #close(view: View | undefined): void {
    if (view === undefined) return
    view.cancelWait()
    const stopping = view.watched.stop()
    this.#stopping.add(stopping)
    void stopping.finally(() => this.#stopping.delete(stopping))
  }
}

const NOT_KNOWN: ReadonlySet<ObjectState['phase']> = new Set(['waiting', 'unreachable'])
const FORBIDDEN = 403
/** There is one object at most. */
const PAGE = 1
