// When the operator collects its garbage: in idle moments, and only where that is worth it.

import { expect, it } from '@jest/globals'
import { collectWhenIdle } from '../../operator/collect-when-idle.ts'
import { createManualClock } from '../support/manual-clock.ts'

const MIB = 1024 * 1024

const open = () => {
  const clock = createManualClock()
  const state = { busy: 0, mebibytes: 60, left: 60, collections: 0 }
  const stop = collectWhenIdle({
    clock,
    measureBusy: () => () => state.busy,
    heapUse: () => state.mebibytes * MIB,
    collect: () => {
      state.collections += 1
      state.mebibytes = state.left
    },
  })
  /** @returns how often it has collected by then */
  const after = (seconds: number, change: Partial<typeof state> = {}): number => {
    Object.assign(state, change)
    clock.advance(seconds * 1000)
    return state.collections
  }
  return { clock, after, stop }
}

it('collects once after the start, and again when enough garbage has come', () => {
  const { after } = open()
  expect(after(10)).toBe(1)
  expect(after(60)).toBe(1)
  expect(after(60, { mebibytes: 80 })).toBe(1)
  expect(after(10, { mebibytes: 90 })).toBe(2)
})

it('waits while there is work, and for more garbage where more stays', () => {
  const { after } = open()
  expect(after(60, { busy: 0.06, mebibytes: 400, left: 200 })).toBe(0)
  expect(after(10, { busy: 0.05 })).toBe(1)
  expect(after(60, { mebibytes: 245 })).toBe(1)
  expect(after(10, { mebibytes: 255 })).toBe(2)
})

it('goes by what V8 has left where that has collected by itself', () => {
  const { after } = open()
  expect(after(10, { mebibytes: 100, left: 100 })).toBe(1)
  expect(after(10, { mebibytes: 60 })).toBe(1)
  expect(after(10, { mebibytes: 90 })).toBe(2)
})

it('ends', () => {
  const { clock, after, stop } = open()
  stop()
  expect(clock.pending).toBe(0)
  expect(after(60)).toBe(0)
})
