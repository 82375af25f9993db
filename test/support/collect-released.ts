// Collects what nothing refers to any more, for tests of what must not be kept.

import { setImmediate } from 'node:timers/promises'
import { collectGarbage } from '../../base/collect-garbage.ts'

/** @example const kept = new WeakRef(make()); await collectReleased(); expect(kept.deref()).toBeUndefined() */
export const collectReleased = async (): Promise<void> => {
  // What a WeakRef was made of, or gave, is held until the end of the turn.
  await setImmediate()
  collectGarbage(Infinity)
}
