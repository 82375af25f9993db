// Counts the callers whose tokens an authorization server has refused to exchange, one after the other and for the same
// reason, to tell a wrong setting of the credential from what is wrong with one of them. It refuses nothing itself.

import type { CredentialError } from './credential.ts'
import type { TokenFailure } from './token-source.ts'

/** What one caller could bring about alone, with as many tokens as it likes, must not look like a fault of the realm. */
const TELLING_CALLERS = 3

export class CallerRefusals {
  #callers = new Set<string>()
  #failure: TokenFailure | undefined

  /** Of the refusals since the last success; undefined: they may all be the affair of one or two callers. */
  get failure(): TokenFailure | undefined {
    return this.#callers.size < TELLING_CALLERS ? undefined : this.#failure
  }

  /** @param caller undefined: it is not known, and can't be told from the one before */
  onRefused(caller: string | undefined, error: CredentialError, at: number): void {
    if (caller === undefined || error.trouble === undefined) return
    if (!isSame(error, this.#failure?.error)) this.onGranted()
    if (this.#callers.size < TELLING_CALLERS) this.#callers.add(caller)
    this.#failure = { error, firstAt: this.#failure?.firstAt ?? at, lastAt: at }
  }

  onGranted(): void {
    this.#callers.clear()
    this.#failure = undefined
  }
}

const isSame = ({ trouble }: CredentialError, other: CredentialError | undefined): boolean =>
  trouble?.cause === other?.trouble?.cause && trouble?.found === other?.trouble?.found
