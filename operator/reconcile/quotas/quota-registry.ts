// Finds which resources exceed the quota of their namespace, and in what words, as what they want and what of them serves
// changes. What serves has its place before what is new, and the old before the young.

import type { NewCondition } from '../../resource/condition.ts'
import { byAge, type Resource } from '../../resource/resource.ts'
import { ComputedCache } from '../computed-cache.ts'
import type { Quota } from './namespace-quotas.ts'
import {
  type Amounts,
  differenceOf,
  largerOf,
  NOTHING,
  QUOTA_NAMES,
  type QuotaName,
  sumOf,
} from './quota-amounts.ts'
import { type Largest, quotaExceeded, type Shortage } from './quota-words.ts'

/** The same object while it says the same. */
export interface QuotaClaim {
  /** `keyOf` of the resource. */
  readonly key: string
  readonly resource: Resource
  /** The use of what the resource says now; undefined: it can't be put as it is, whatever its quota. */
  readonly wanted: Amounts | undefined
  /** The use of the version that serves; undefined: none does. */
  readonly serving: Amounts | undefined
  /** What serves is not known, and counts for the most that it could have. */
  readonly isEstimated: boolean
}

export type Refusals = ReadonlyMap<string, NewCondition<'Accepted'>>

interface Account {
  readonly claims: Map<string, QuotaClaim>
  /** Keys, the oldest first; undefined: to be sorted. */
  order: readonly string[] | undefined
  /** If every claim were met. */
  demand: Amounts
  quota: Quota | undefined
  refused: Refusals
  /** The use of all that are not refused, and of what serves of the others. */
  used: Amounts
}

/**
 * A claim counts for the larger of what it wants and what serves of it: whichever of them is put, the sum stays within
 * the quota. Only a namespace that wants more than it may have is looked at claim by claim, when something of it
 * changes. What serves is never refused, also where the quota was lowered: then nothing grows.
 */
export class QuotaRegistry {
  readonly #accounts = new Map<string, Account>()
  readonly #namespaces = new Map<string, string>()
  /** Namespaces of which something has changed since they were settled. */
  readonly #touched = new Set<string>()
  /** Namespaces of which something is refused. */
  readonly #refusing = new Set<string>()
  /**
   * Words stay while the reason does: others come and go, and must not write the status of each that waits.
   */
  readonly #words = new ComputedCache<NewCondition<'Accepted'>>()

  put(claim: QuotaClaim): void {
    const { namespace } = claim.resource.metadata
    const account = this.#accounts.get(namespace) ?? openAccount()
    const before = account.claims.get(claim.key)
    if (before === claim) return
    this.#accounts.set(namespace, account)
    this.#namespaces.set(claim.key, namespace)
    account.claims.set(claim.key, claim)
    account.demand = differenceOf(sumOf(account.demand, demandOf(claim)), demandOf(before))
    if (before?.resource.metadata.createdAt !== claim.resource.metadata.createdAt)
      account.order = undefined
    this.#touched.add(namespace)
  }

  forget(key: string): void {
    const namespace = this.#namespaces.get(key)
    if (namespace === undefined) return
    this.#namespaces.delete(key)
    this.#words.forget(key)
    this.#remove(key, namespace)
  }

  /** Forgets every key that is not in `live`, of which each has been put. */
  retain(live: { readonly size: number; has(key: string): boolean }): void {
    if (this.#namespaces.size === live.size) return
    for (const key of this.#namespaces.keys()) if (!live.has(key)) this.forget(key)
  }

  /**
   * @param areQuotasSame none has changed since the last time
   * @returns keys of those that are refused and were not, or the other way round, or for another reason
   */
  settle(quotaOf: (namespace: string) => Quota, areQuotasSame: boolean): ReadonlySet<string> {
    const changed = new Set<string>()
    for (const namespace of areQuotasSame ? this.#touched : this.#accounts.keys()) {
      const account = this.#accounts.get(namespace)
      const quota = account && quotaOf(namespace)
      if (account === undefined || quota === undefined) continue
      if (quota === account.quota && !this.#touched.has(namespace)) continue
      const { refused, used } = this.#settleAccount(namespace, account, quota)
      noteChanges(account.refused, refused, changed)
      Object.assign(account, { quota, refused, used } satisfies Partial<Account>)
      if (refused.size > 0) this.#refusing.add(namespace)
      else this.#refusing.delete(namespace)
    }
    this.#touched.clear()
    return changed
  }

  /** Undefined: it is within the quota. The same object while the reason is the same. */
  refusalOf({ key, namespace }: Place): NewCondition<'Accepted'> | undefined {
    return this.#accounts.get(namespace)?.refused.get(key)
  }

  /** It wants something, and has its place. */
  isCounted({ key, namespace }: Place): boolean {
    const account = this.#accounts.get(namespace)
    return account?.claims.get(key)?.wanted !== undefined && !account.refused.has(key)
  }

  get hasRefusals(): boolean {
    return this.#refusing.size > 0
  }

  usedBy(namespace: string): Amounts {
    return this.#accounts.get(namespace)?.used ?? NOTHING
  }

  #remove(key: string, namespace: string): void {
    const account = this.#accounts.get(namespace)
    if (account === undefined) return
    account.demand = differenceOf(account.demand, demandOf(account.claims.get(key)))
    account.claims.delete(key)
    account.order = undefined
    this.#touched.add(namespace)
    if (account.claims.size > 0) return
    this.#accounts.delete(namespace)
    this.#refusing.delete(namespace)
  }

  #settleAccount(
    namespace: string,
    account: Account,
    { limits, misspelt }: Quota,
  ): Pick<Account, 'refused' | 'used'> {
    const { claims, demand } = account
    const isEnough = QUOTA_NAMES.every((name) => demand[name] <= limits[name])
    const { shortages, used } = isEnough
      ? { shortages: NO_SHORTAGES, used: demand }
      : findShortages(inOrder(account), limits)
    for (const key of account.refused.keys()) if (!shortages.has(key)) this.#words.forget(key)
    if (shortages.size === 0) return { refused: NONE, used }
    const refused = new Map<string, NewCondition<'Accepted'>>()
    for (const [key, shortage] of shortages) {
      const { quota: name, limit, needed } = shortage
      const { uid } = claims.get(key)?.resource.metadata ?? {}
      const words = this.#words.get(key, [uid, name, limit, needed, misspelt], () =>
        quotaExceeded(namespace, shortage, misspelt),
      )
      refused.set(key, words)
    }
    return { refused, used }
  }
}

export interface Place {
  readonly key: string
  readonly namespace: string
}

const inOrder = (account: Account): readonly QuotaClaim[] => {
  const { claims } = account
  account.order ??= [...claims.values()]
    .sort((left, right) => byAge(left.resource, right.resource))
    .map(({ key }) => key)
  return account.order.flatMap((key) => claims.get(key) ?? [])
}

/**
 * What takes more than there is room for: changes of what serves come first, then what is new.
 * @param claims the oldest first
 */
const findShortages = (
  claims: readonly QuotaClaim[],
  limits: Amounts,
): { readonly shortages: ReadonlyMap<string, Shortage>; readonly used: Amounts } => {
  const inTurn = [
    ...claims.filter(({ serving }) => serving !== undefined),
    ...claims.filter(({ serving }) => serving === undefined),
  ]
  let used = claims.map(({ serving = NOTHING }) => serving).reduce(sumOf, NOTHING)
  const largest = new Map<QuotaName, Largest | undefined>()
  const shortages = new Map<string, Shortage>()
  for (const claim of inTurn) {
    const after = sumOf(used, differenceOf(demandOf(claim), claim.serving ?? NOTHING))
    const quota = findExceeded(claim, after, limits)
    if (quota === undefined) {
      used = after
      continue
    }
    if (!largest.has(quota)) largest.set(quota, findLargest(claims, quota))
    shortages.set(claim.key, {
      quota,
      limit: limits[quota],
      others: after[quota] - demandOf(claim)[quota],
      needed: claim.wanted?.[quota] ?? 0,
      largest: largest.get(quota),
    })
  }
  return { shortages, used }
}

/** What does not grow needs no room. */
const findExceeded = (
  { wanted, serving = NOTHING, isEstimated }: QuotaClaim,
  after: Amounts,
  limits: Amounts,
): QuotaName | undefined => {
  if (wanted === undefined) return undefined
  const granted = isEstimated ? NOTHING : serving
  return QUOTA_NAMES.find((name) => wanted[name] > granted[name] && after[name] > limits[name])
}

/** Finds the largest of those that serve. */
const findLargest = (claims: readonly QuotaClaim[], quota: QuotaName): Largest | undefined => {
  let largest: Largest | undefined
  for (const { resource, serving = NOTHING } of claims) {
    const amount = serving[quota]
    if (amount > (largest?.amount ?? 0)) largest = { name: resource.metadata.name, amount }
  }
  return largest
}

const demandOf = (claim: QuotaClaim | undefined): Amounts =>
  claim === undefined ? NOTHING : largerOf(claim.wanted ?? NOTHING, claim.serving ?? NOTHING)

const openAccount = (): Account => ({
  claims: new Map(),
  order: undefined,
  demand: NOTHING,
  quota: undefined,
  refused: NONE,
  used: NOTHING,
})

const NONE: Refusals = new Map()
const NO_SHORTAGES: ReadonlyMap<string, Shortage> = new Map()

const noteChanges = (before: Refusals, after: Refusals, changed: Set<string>): void => {
  for (const [key, condition] of after) if (before.get(key) !== condition) changed.add(key)
  for (const key of before.keys()) if (!after.has(key)) changed.add(key)
}
