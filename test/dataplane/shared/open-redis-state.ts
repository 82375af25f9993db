// Where a Redis is comes in; its shared state as one process opens it goes out, and once it is ready, if asked.

import { expect } from '@jest/globals'
import { randomUUID } from 'node:crypto'
import { createRedisState } from '../../../dataplane/shared/redis-state.ts'
import type { SharedState } from '../../../dataplane/shared/shared-state.ts'
import { eventually } from '../../support/eventually.ts'

export const openRedisState = (
  url: string,
  onTrouble: (message: string) => void = () => undefined,
): SharedState => createRedisState({ url, id: randomUUID(), now: Date.now, onTrouble, extraCa: [] })

export const haveHealth = (
  health: SharedState['health'],
  ...states: readonly SharedState[]
): Promise<void> =>
  eventually(
    () => {
      expect(states.map((state) => state.health)).toEqual(states.map(() => health))
    },
    { withinMs: 15_000 },
  )
