// Counts on each session the invocations that callbacks have not answered yet, so that a session that was replaced is
// not closed before they are answered.

import type { WampSession } from '../../session/joined-session.ts'

export class RunningInvocations {
  readonly #counts = new WeakMap<WampSession, number>()

  on(session: WampSession): number {
    return this.#counts.get(session) ?? 0
  }

  /** Counts one on the session until `answer` has settled. */
  async during<T>(session: WampSession, answer: () => Promise<T>): Promise<T> {
    this.#counts.set(session, this.on(session) + 1)
    try {
      return await answer()
    } finally {
      this.#counts.set(session, this.on(session) - 1)
    }
  }
}
