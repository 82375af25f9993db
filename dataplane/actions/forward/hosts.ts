// Chooses which of the `hosts` of a forward each attempt goes to (behaviour §4): by weight, another one for a retry,
// and for a while none that cannot be reached. Each operation keeps one record of which hosts were reached; it sends
// nothing itself.

import { MAX_WEIGHT } from '../../../language/compile/hosts.ts'
import type { WeightedHost } from '../../../language/compile/hosts.ts'
import { ExpressionError } from '../../../language/expression/errors.ts'
import { type EvaluationContext, evaluator } from '../../../language/expression/run.ts'
import type { Template } from '../../../language/expression/template.ts'
import type { Value } from '../../../language/expression/value.ts'
import { readOrigin } from '../../../language/upstream-origin.ts'
import { GatewayError } from '../../gateway-error.ts'
import {
  OutlierDetector,
  type EjectionCounter,
  type EjectionChange,
} from '../../upstream/endpoints/outlier-detector.ts'
import type { RetryClock } from '../../upstream/retry.ts'
import { type HostChoice, prepareOrigin } from './request.ts'

/** A host of a forward gets no requests for a while, or gets them again. */
export interface HostHealthEvent {
  readonly origin: string
  readonly change: EjectionChange
}

export interface HostsOptions {
  readonly clock: Pick<RetryClock, 'now' | 'random'>
  readonly onHealth?: ((event: HostHealthEvent) => void) | undefined
}

/** Hosts that a request may go to, with a weight above 0 each. */
interface Offer {
  readonly origins: readonly string[]
  readonly weights: readonly number[]
}

/**
 * If everything is known at load, a request costs a random number and a sum. Otherwise all weights, and the hosts of
 * those above 0, are evaluated for each request, so that an invalid one fails every request and not just its share.
 *
 * @returns a closure that throws ExpressionError or GatewayError for invalid weights and hosts
 * @example
 * const choose = prepareHosts(action.hosts, { clock: SYSTEM_CLOCK })
 * const hosts = choose(context) // hosts.origin: 'http://orders:8080'
 */
export const prepareHosts = (
  hosts: readonly WeightedHost[],
  options: HostsOptions,
): ((context: EvaluationContext) => HostChoice) => {
  const known = knownOffer(hosts)
  const health = new HostHealth(hosts, options)
  const { random } = options.clock
  if (known !== undefined) return () => new WeightedChoice(known, health, random)
  const offerFor = prepareOffer(hosts)
  return (context) => new WeightedChoice(offerFor(context), health, random)
}

const knownOffer = (hosts: readonly WeightedHost[]): Offer | undefined => {
  const origins: string[] = []
  const weights: number[] = []
  for (const { host, weight } of hosts) {
    const origin = writtenOrigin(host)
    if (origin === undefined || weight.kind !== 'constant') return undefined
    if (typeof weight.value !== 'number') return undefined
    if (weight.value === 0) continue
    origins.push(origin)
    weights.push(weight.value)
  }
  return origins.length === 0 ? undefined : { origins, weights }
}

const writtenOrigin = (host: Template): string | undefined => {
  if (host.kind !== 'constant' || typeof host.value !== 'string') return undefined
  const reading = readOrigin(host.value)
  return reading.ok ? reading.origin : undefined
}

const prepareOffer = (hosts: readonly WeightedHost[]): ((context: EvaluationContext) => Offer) => {
  const entries = hosts.map(({ host, weight }, index) => ({
    originOf: prepareOrigin(host),
    weightOf: prepareWeight(weight, index),
  }))
  return (context) => {
    const origins: string[] = []
    const weights: number[] = []
    for (const { originOf, weightOf } of entries) {
      const weight = weightOf(context)
      if (weight === 0) continue
      origins.push(originOf(context))
      weights.push(weight)
    }
    if (origins.length > 0) return { origins, weights }
    throw new GatewayError(
      'svc.error.invalid_data',
      'There is no host to forward to: the weight of every host is 0.',
      { member: '/action/hosts' },
    )
  }
}

const prepareWeight = (
  template: Template,
  index: number,
): ((context: EvaluationContext) => number) => {
  const run = evaluator(template)
  return (context) => {
    const weight = toWeight(run(context))
    if (weight !== undefined) return weight
    throw new ExpressionError(
      `hosts ${index}: weight: a whole number from 0 to ${MAX_WEIGHT} is expected`,
      { member: `/action/hosts/${index}/weight`, template },
    )
  }
}

const toWeight = (value: Value): number | undefined => {
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
  const isWeight =
    typeof number === 'number' && Number.isInteger(number) && number >= 0 && number <= MAX_WEIGHT
  return isWeight ? number : undefined
}

/** The choice of one request. */
class WeightedChoice implements HostChoice {
  readonly #offer: Offer
  readonly #health: HostHealth
  readonly #random: () => number
  /** Hosts that attempts went to, a bit for each. */
  #tried = 0
  #at: number
  #begunAt: number

  constructor(offer: Offer, health: HostHealth, random: () => number) {
    this.#offer = offer
    this.#health = health
    this.#random = random
    this.#at = health.isTroubled ? this.#choose() : this.#drawAny()
    this.#begunAt = health.ejectionCounter.count
  }

  get origin(): string {
    return this.#offer.origins[this.#at] ?? ''
  }

  goOn(): void {
    this.#tried |= 1 << this.#at
    // All hosts were tried: any but the last one again.
    if (this.#tried === (1 << this.#offer.origins.length) - 1) this.#tried = 1 << this.#at
    this.#at = this.#choose()
    this.#begunAt = this.#health.ejectionCounter.count
  }

  onReached(): void {
    this.#health.report(this.origin, false, this.#begunAt)
  }

  onUnreached(): void {
    this.#health.report(this.origin, true, this.#begunAt)
  }

  #choose(): number {
    const { origins, weights } = this.#offer
    const isTried = (index: number): boolean => (this.#tried & (1 << index)) !== 0
    const probed = origins.findIndex((each, index) => !isTried(index) && this.#health.probe(each))
    if (probed >= 0) return probed
    const healthy = weights.map((each, index) => each * this.#health.shareOf(origins[index] ?? ''))
    // A host that was tried may work the next time; an ejected one was not reached by others either.
    for (const shares of [healthy.map(unless(isTried)), healthy, weights.map(unless(isTried))]) {
      const drawn = draw(shares, this.#random())
      if (drawn !== undefined) return drawn
    }
    return this.#drawAny()
  }

  #drawAny(): number {
    return draw(this.#offer.weights, this.#random()) ?? 0
  }
}

const unless =
  (isLeftOut: (index: number) => boolean) =>
  (weight: number, index: number): number =>
    isLeftOut(index) ? 0 : weight

/** Draws an index with a probability in proportion to its share; undefined if all are 0. */
const draw = (shares: readonly number[], random: number): number | undefined => {
  let sum = 0
  for (const share of shares) sum += share
  let left = random * sum
  let last: number | undefined
  for (let index = 0; index < shares.length; index++) {
    const share = shares[index] ?? 0
    if (share === 0) continue
    last = index
    left -= share
    if (left < 0) return index
  }
  return last
}

/**
 * Tracks whether the hosts of one operation can be reached. It tracks only those that the document writes out, so
 * that requests cannot fill memory, and for each operation separately, so that no document takes a host from another.
 */
class HostHealth {
  readonly ejectionCounter: EjectionCounter = { count: 0 }
  readonly #options: HostsOptions
  readonly #written: ReadonlySet<string>
  /** Created at the first failure. */
  #detector: OutlierDetector | undefined

  constructor(hosts: readonly WeightedHost[], options: HostsOptions) {
    this.#options = options
    const origins = hosts.map(({ host }) => writtenOrigin(host))
    this.#written = new Set(origins.filter((each) => each !== undefined))
  }

  get isTroubled(): boolean {
    return this.#detector?.isTroubled === true
  }

  /** 0: it gets no requests. 1: its whole weight. */
  shareOf(origin: string): number {
    return this.#detector?.shareOf(origin) ?? 1
  }

  /** True: this request should try a host that got none for a while. */
  probe(origin: string): boolean {
    // Only connections count here, and a request that reached no host is retried whatever its method.
    if (this.#detector?.isDue(origin, true) !== true) return false
    this.#detector.beginProbe(origin)
    return true
  }

  report(origin: string, isFailure: boolean, begunAt: number): void {
    if (this.#detector === undefined && !isFailure) return
    if (!this.#written.has(origin)) return
    this.#detector ??= new OutlierDetector({
      now: this.#options.clock.now,
      ejectionCounter: this.ejectionCounter,
    })
    const change = this.#detector.report({ address: origin, isFailure, begunAt }, this.#written)
    if (change !== undefined) this.#options.onHealth?.({ origin, change })
  }
}
