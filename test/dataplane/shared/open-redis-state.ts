// Opens the shared state of a Redis as one process does, and waits until it is ready, if asked to.

import { expect } from '@jest/globals'
import { randomUUID } from 'node:crypto'
import type { RedisTimes } from '../../../dataplane/shared/redis-connection.ts'
import { createRedisState, type RedisState } from '../../../dataplane/shared/redis-state.ts'
import type { SharedState } from '../../../dataplane/shared/shared-state.ts'
import { eventually } from '../../support/eventually.ts'

export interface RedisOpening {
  readonly onTrouble?: (message: string) => void
  readonly times?: Partial<RedisTimes>
}

/** What it would wait a second for, it does at once; how long it waits for others it waits here too. */
const TIMES = { keepUpEveryMs: 50, firstPauseMs: 20, longestPauseMs: 50 }

export const openRedisState = (
  url: string,
  { onTrouble = () => undefined, times = {} }: RedisOpening = {},
): RedisState =>
  createRedisState({
    url,
    onError: onTrouble,
    id: randomUUID(),
    now: Date.now,
    extraCa: [],
    times: { ...TIMES, ...times },
  })

/** Every change of its health from now on: one may be over before anybody looks. */
export const healthChanges = (state: SharedState): readonly SharedState['health'][] => {
  const changes: SharedState['health'][] = []
  state.onHealth(() => changes.push(state.health))
  return changes
}

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
