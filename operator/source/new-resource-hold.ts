// Decides for how long deletes wait because new resources of some namespaces wait for a Secret or ConfigMap: each may
// be a resource that was just deleted under another name. A namespace has only a limited time for that, as it delays
// the deletes of all.

interface Account {
  spentMs: number
  atMs: number
  isHolding: boolean
  /** Until half of its time has come back; otherwise it would hold for a moment again and again. */
  isSpent: boolean
}

/** As long as a first state is waited for where reading fails. */
const HOLD_MS = 10_000
/** Spent time comes back within two minutes. */
const REFILL = HOLD_MS / 120_000

export class NewResourceHold {
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
