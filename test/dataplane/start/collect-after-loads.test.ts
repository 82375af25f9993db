// When the garbage of a load is collected: once, after a large one, while nothing is done.

import { describe, expect, it } from '@jest/globals'
import { collectAfterLoads } from '../../../dataplane/start/collect-after-loads.ts'
import type { PackedDocument } from '../../../dataplane/store/packed/packed-document.ts'
import { createManualClock } from '../../support/manual-clock.ts'

const MINUTE_MS = 60_000

const open = () => {
  const clock = createManualClock()
  const state = { busy: 0, collections: 0, applied: 0 }
  const serving = collectAfterLoads(
    {
      apply: () => {
        state.applied += 1
        return Promise.resolve()
      },
    },
    {
      clock,
      measureBusy: () => () => state.busy,
      collect: () => {
        state.collections += 1
      },
    },
  )
  const load = (count: number): Promise<void> =>
    serving.apply({
      put: Array.from({ length: count }, () => ({}) as PackedDocument),
      remove: [],
      realms: { put: [], delete: [] },
    })
  return { clock, state, load }
}

describe('the garbage of a load', () => {
  it('is collected once for all loads before', async () => {
    const { clock, state, load } = open()
    await load(1000)
    await load(1000)
    expect(state).toMatchObject({ applied: 2, collections: 0 })
    clock.advance(MINUTE_MS)
    expect(state.collections).toBe(1)
    await load(1000)
    clock.advance(MINUTE_MS)
    expect(state.collections).toBe(2)
    expect(clock.pending).toBe(0)
  })

  it('waits until there is little to do', async () => {
    const { clock, state, load } = open()
    state.busy = 0.5
    await load(1000)
    clock.advance(10_000)
    expect(state.collections).toBe(0)
    state.busy = 0.01
    clock.advance(1000)
    expect(state.collections).toBe(1)
  })

  it('is left to V8 where there is always something to do', async () => {
    const { clock, state, load } = open()
    state.busy = 0.5
    await load(1000)
    clock.advance(2 * MINUTE_MS)
    expect(clock.pending).toBe(0)
    state.busy = 0
    await load(1000)
    clock.advance(1000)
    expect(state.collections).toBe(1)
  })

  it('is left to V8 after a small load', async () => {
    const { clock, state, load } = open()
    await load(10)
    clock.advance(MINUTE_MS)
    expect(state.collections).toBe(0)
  })
})
