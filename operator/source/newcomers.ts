// Namespaces with new resources that wait for a Secret or ConfigMap in; whether all deletes wait for them, out: each may be
// what went a moment ago under another name. No namespace has that for longer than a while: it would be for everybody.

interface Account {
  spentMs: number
  atMs: number
  isHolding: boolean
  /** Until it has half of its time again: else it would hold for a moment again and again. */
  isSpent: boolean
}

/** As long as a first answer is waited for where there is failure. */
const HOLD_MS = 10_000
/** What was spent comes back within two minutes. */
const REFILL = HOLD_MS / 120_000

export class Newcomers {
  readonly #accounts = new Map<string, Account>()

  /**
   * @param namespaces of those that wait now
   * @returns for how long deletes are held, if nothing changes; 0: they are not
   */
  hold(namespaces: ReadonlySet<string>, nowMs: number): number {
    for (const [namespace, account] of this.#accounts) {
      settle(account, nowMs)
      if (account.spentMs === 0 && !namespaces.has(namespace)) this.#accounts.delete(namespace)
    }
    for (const namespace of namespaces) {
      const account = this.#accounts.get(namespace) ?? open(nowMs)
      this.#accounts.set(namespace, account)
      account.isHolding = !account.isSpent
    }
    const holding = [...this.#accounts.values()].filter(({ isHolding }) => isHolding)
    return Math.max(0, ...holding.map(({ spentMs }) => HOLD_MS - spentMs))
  }
}

const open = (atMs: number): Account => ({ spentMs: 0, atMs, isHolding: false, isSpent: false })

const settle = (account: Account, nowMs: number): void => {
  const passedMs = Math.max(0, nowMs - account.atMs)
  account.spentMs = account.isHolding
    ? Math.min(HOLD_MS, account.spentMs + passedMs)
    : Math.max(0, account.spentMs - passedMs * REFILL)
  account.isSpent = account.isSpent ? account.spentMs > HOLD_MS / 2 : account.spentMs >= HOLD_MS
  account.atMs = nowMs
  account.isHolding = false
}
