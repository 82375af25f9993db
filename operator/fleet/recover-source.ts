// Recovers from data planes the text of versions that should go on serving and that exist nowhere else. It searches for few
// versions at a time, each in one data plane after the other, until one has it or it is no longer needed.

import { isSameText } from '../../language/wire/digest.ts'
import { isMap, type ValueMap } from '../../language/expression/value.ts'
import type { Log } from '../../telemetry/log.ts'
import { backOffMs, DEFAULT_BACK_OFF } from '../../base/back-off.ts'
import type { Clock } from '../../base/clock.ts'
import type { ManagementResponse } from './management-client.ts'

export interface WantedVersion {
  /** Absent: the id is unknown, and the digest identifies the version. */
  readonly id?: string
  readonly digest: string
  /** Namespace of the resource: sidecars of other namespaces are not asked. */
  readonly namespace: string
}

/** A ready data plane that has a version loaded. */
export interface Holder {
  /** Changes with each restart of the data plane. */
  readonly key: string
  readonly source: () => Promise<ManagementResponse<unknown>>
}

export interface RecoverSourceOptions<T extends WantedVersion> {
  readonly holders: (version: WantedVersion) => readonly Holder[]
  /** @returns false: it is not the text of that version, which is not requested again */
  readonly recover: (version: T, document: ValueMap) => Promise<boolean>
  /** Called when versions were recovered, once for all that were requested together. */
  readonly onRecovered: () => void
  readonly clock: Clock
  readonly log: Log
}

interface Search {
  readonly tried: Set<string>
  failures: number
  isAsking: boolean
  /** There is a result, good or not. */
  isOver: boolean
}

/** A document that a hostile data plane sends may take 100 MiB when it is parsed. */
const MAX_AT_ONCE = 2

/**
 * @example
 * const source = new RecoverSource({ holders: (version) => fleet.holders(version), recover, onRecovered, clock, log })
 * source.want(reconciliation.missing)
 */
export class RecoverSource<T extends WantedVersion> {
  readonly #options: RecoverSourceOptions<T>
  /** Searches by identity: while a version is the same object, nothing has changed for it. */
  #searches: ReadonlyMap<T, Search> = new Map()
  #asking = 0
  #hasRecovered = false
  #cancelRetry: (() => void) | undefined
  #isStopped = false

  constructor(options: RecoverSourceOptions<T>) {
    this.#options = options
  }

  /** @param versions all that are wanted now: the search for others ends */
  want(versions: readonly T[]): void {
    const before = this.#searches
    this.#searches = new Map(versions.map((version) => [version, before.get(version) ?? aSearch()]))
    this.lookAgain()
  }

  /** Call it when data planes have come or have loaded something else. Costs nothing while nothing is wanted. */
  lookAgain(): void {
    if (this.#isStopped) return
    for (const [version, search] of this.#searches) {
      if (this.#asking >= MAX_AT_ONCE) return
      if (!search.isAsking && !search.isOver) this.#ask(version, search)
    }
  }

  /** The results of requests under way are ignored. */
  stop(): void {
    this.#isStopped = true
    this.#searches = new Map()
    this.#cancelRetry?.()
  }

  #ask(version: T, search: Search): void {
    const holder = this.#options.holders(version).find(({ key }) => !search.tried.has(key))
    if (holder === undefined) return
    search.tried.add(holder.key)
    search.isAsking = true
    this.#asking += 1
    void this.#request(version, search, holder).finally(() => {
      search.isAsking = false
      this.#asking -= 1
      this.lookAgain()
      this.#settle()
    })
  }

  async #request(version: T, search: Search, { key, source }: Holder): Promise<void> {
    const { recover, log } = this.#options
    try {
      const response = await source()
      if (this.#searches.get(version) !== search) return
      const document = textIn(response, version.digest)
      if (document === undefined) {
        search.failures += 1
        this.#retryLater(search)
        return
      }
      const isRecovered = await recover(version, document)
      search.isOver = true
      this.#hasRecovered ||= isRecovered
      const { id, digest } = version
      if (isRecovered)
        log.info('the text of a document was read back from a data plane', {
          id,
          digest,
          dataPlane: key,
        })
      else
        log.warn('the text of a document was read back from a data plane and is not valid', {
          id,
          digest,
          dataPlane: key,
        })
    } catch (error) {
      search.failures += 1
      this.#retryLater(search)
      log.error('reading the text of a document back from a data plane failed', {
        id: version.id,
        error,
      })
    }
  }

  #settle(): void {
    if (this.#asking > 0 || !this.#hasRecovered || this.#isStopped) return
    this.#hasRecovered = false
    this.#options.onRecovered()
  }

  /** Tries the same data planes again later, as they may have the text then. */
  #retryLater({ failures }: Search): void {
    const { clock } = this.#options
    if (this.#cancelRetry !== undefined || this.#isStopped) return
    const ms = backOffMs(failures + 1, DEFAULT_BACK_OFF, clock.random())
    this.#cancelRetry = clock.after(ms, () => {
      this.#cancelRetry = undefined
      for (const search of this.#searches.values()) search.tried.clear()
      this.lookAgain()
    })
  }
}

const aSearch = (): Search => ({ tried: new Set(), failures: 0, isAsking: false, isOver: false })

/** The tag is the digest that the document was sent with; `recover` verifies it. */
const textIn = (response: ManagementResponse<unknown>, digest: string): ValueMap | undefined =>
  response.result === 'ok' && isSameText(untagged(response.etag), digest) && isMap(response.value)
    ? response.value
    : undefined

const untagged = (etag: string | undefined): string => /^"(.+)"$/.exec(etag ?? '')?.[1] ?? ''
