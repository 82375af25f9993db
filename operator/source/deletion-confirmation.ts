// Confirms which of the resources that are gone from the API were really deleted. Deleting a CRD deletes all its resources,
// which may not be intended: until it is back, and for a while after, they count as if they still existed.

import type { Log } from '../../telemetry/log.ts'
import type { Clock } from '../../base/clock.ts'
import type { KubernetesApi } from '../kubernetes/client/api.ts'
import { OWN_TYPES } from '../resource/own-types.ts'
import { type Definition, isSameDefinition, fetchDefinition } from './definition.ts'

export interface DeletionConfirmationOptions {
  readonly api: KubernetesApi
  readonly clock: Clock
  readonly log: Log
  /** Between two reads of a CRD that is away, or can't be read. */
  readonly retryMs: number
  /** Resources that went with a CRD have this long to be applied again once the CRD is back. */
  readonly returnMs: number
  /** The result of `confirmed` or `hold` may have changed. */
  readonly onChange: () => void
  /** The CRDs exist, and as far as the watches know the API does not know a kind of ours: they may list again. */
  readonly onEstablished: () => void
}

interface KindsSeen {
  readonly areUnknown: boolean
  readonly areListed: boolean
}

export class DeletionConfirmation {
  readonly #options: DeletionConfirmationOptions
  readonly #confirmed = new Set<string>()
  #open: readonly string[] = []
  #isChecking = false
  #cancelLook: (() => void) | undefined
  /** The API has responded with 404 for a kind of ours. */
  #isUnknown = false
  /** It did so before we had ever listed: which resources went with the CRD is not known. */
  #isBlind = false
  #away: string | undefined
  #returnedAtMs = -Infinity
  /** As of the last read. */
  #seen: readonly Definition[] | undefined
  #isStopped = false

  constructor(options: DeletionConfirmationOptions) {
    this.#options = options
  }

  /** Learns which CRDs there are, so that another one in their place is noticed. */
  start(): void {
    this.#lookSoon(0)
  }

  /** Why nothing may be deleted. */
  get hold(): string | undefined {
    if (this.#open.length === 0 && !this.#isBlind) return undefined
    return this.#away ?? (this.#isReturning() ? RETURNING : undefined)
  }

  /**
   * @param missing keys of resources that have been there and are not there any more
   * @param kinds `areUnknown`: the API does not know one of ours now; `areListed`: they have all been listed once
   * @returns those that were deleted for good; the others are still being checked
   */
  check(missing: readonly string[], kinds: KindsSeen): ReadonlySet<string> {
    this.#noteKinds(kinds)
    const known = new Set(missing)
    for (const key of this.#confirmed) if (!known.has(key)) this.#confirmed.delete(key)
    this.#open = missing.filter((key) => !this.#confirmed.has(key))
    if (this.#open.length === 0 && !this.#isBlind) this.#away = undefined
    else this.#lookSoon(0)
    return this.#confirmed
  }

  /** The current CRDs; undefined where they can't be read, or do not both exist. */
  async definitions(): Promise<readonly Definition[] | undefined> {
    try {
      const definitions = await this.#look()
      return definitions.some(isAway) || this.#isReturning() ? undefined : definitions
    } catch (error) {
      this.#options.log.warn('the CRDs cannot be read', { error })
      return undefined
    }
  }

  /** A live list lacks them too, and nothing has happened to the CRDs between the reads before and after it. */
  confirm(
    missing: readonly string[],
    before: readonly Definition[],
    after: readonly Definition[],
  ): boolean {
    const isSame = areSame(before, after)
    if (isSame) for (const key of missing) this.#confirmed.add(key)
    return isSame
  }

  stop(): void {
    this.#isStopped = true
    this.#cancelLook?.()
  }

  #noteKinds({ areUnknown, areListed }: KindsSeen): void {
    if (this.#isUnknown && !areUnknown) this.#returnedAtMs = this.#options.clock.now()
    this.#isUnknown = areUnknown
    if (areUnknown) this.#isBlind ||= !areListed
    else if (!this.#isReturning()) this.#isBlind = false
  }

  #isReturning(): boolean {
    return this.#options.clock.now() < this.#returnedAtMs + this.#options.returnMs
  }

  #lookSoon(ms: number): void {
    if (this.#isChecking || this.#isStopped || this.#cancelLook !== undefined) return
    this.#cancelLook = this.#options.clock.after(ms, () => {
      this.#cancelLook = undefined
      void this.#lookNow()
    })
  }

  async #lookNow(): Promise<void> {
    const keys = this.#open
    this.#isChecking = true
    const againMs = await this.#checkOpen(keys)
    this.#isChecking = false
    if (this.#isStopped) return
    if (againMs !== undefined) this.#lookSoon(againMs)
    this.#options.onChange()
  }

  /** @returns when to check again */
  async #checkOpen(keys: readonly string[]): Promise<number | undefined> {
    const { clock, log, retryMs, returnMs, onEstablished } = this.#options
    try {
      const definitions = await this.#look()
      if (this.#isUnknown && definitions.every(isEstablished)) onEstablished()
      if (this.#isUnknown || definitions.some(isAway)) {
        this.#away = AWAY
        return retryMs
      }
      const isOther = this.#seen !== undefined && !areSame(this.#seen, definitions)
      if (this.#away !== undefined || isOther) this.#returnedAtMs = clock.now()
      this.#away = undefined
      this.#seen = definitions
      if (this.#isReturning()) return this.#returnedAtMs + returnMs - clock.now()
      for (const key of keys) this.#confirmed.add(key)
      return undefined
    } catch (error) {
      log.warn('the CRDs cannot be read: resources that are gone from the API stay in service', {
        error,
      })
      return retryMs
    }
  }

  #look(): Promise<readonly Definition[]> {
    const types = [OWN_TYPES.apiSpecifications, OWN_TYPES.realms]
    return Promise.all(types.map((type) => fetchDefinition(this.#options.api, type)))
  }
}

const areSame = (before: readonly Definition[], after: readonly Definition[]): boolean =>
  before.every((each, i) => {
    const later = after[i]
    return later !== undefined && isSameDefinition(each, later)
  })

const isEstablished = ({ state }: Definition): boolean => state === 'established'

const isAway = ({ state }: Definition): boolean => state === 'gone' || state === 'leaving'

const AWAY =
  'a CRD of the gateway is gone or being deleted, and its resources with it: their last versions stay in ' +
  'service until it is back; apply the CRDs, then the resources, again'
const RETURNING =
  'a CRD of the gateway was gone and is back: the resources that went with it stay in service for a while, so that they ' +
  'can be applied again'
