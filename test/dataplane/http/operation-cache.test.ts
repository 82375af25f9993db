import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import {
  createOperationCache,
  type OperationCache,
} from '../../../dataplane/http/operation-cache.ts'
import type { OperationSlot, ServedPath } from '../../../dataplane/served.ts'
import { collectReleased } from '../../support/collect-released.ts'

const slotOf = (name: string): OperationSlot<string> => ({
  method: 'get',
  path: { template: name } as ServedPath<string>,
  load: () => {
    throw new Error('not asked for')
  },
  prepared: undefined,
  isRecent: false,
})

const build = (slot: OperationSlot<string>) => `built ${slot.path.template}`

/** Of a process that never has memory for more than `least`. */
const cacheOf = (least: number): OperationCache<string> =>
  createOperationCache({ build, hasRoom: () => false, least })

describe('createOperationCache', () => {
  it('builds once', () => {
    let built = 0
    const cache = createOperationCache<string>({
      build: (slot) => {
        built++
        return build(slot)
      },
      hasRoom: () => true,
      least: 10,
    })
    const slot = slotOf('a')
    expect([cache.get(slot), cache.get(slot)]).toEqual(['built a', 'built a'])
    expect(built).toBe(1)
  })

  it('lets go of what was not used since the hand last passed', () => {
    const cache = cacheOf(3)
    const slots = ['a', 'b', 'c', 'd', 'e'].map(slotOf)
    const [a, b, c, d, e] = slots as [OperationSlot<string>, ...OperationSlot<string>[]] &
      typeof slots
    for (const slot of [a, b, c]) if (slot) cache.get(slot)
    cache.get(a)
    if (d) cache.get(d)
    expect([a, b, c, d].map((slot) => slot?.prepared !== undefined)).toEqual([
      true,
      false,
      true,
      true,
    ])
    if (e) cache.get(e)
    expect(slots.filter((slot) => slot.prepared !== undefined)).toHaveLength(3)
  })

  it('a build that fails keeps nothing and costs no place', () => {
    const cache = createOperationCache<string>({
      build: () => {
        throw new Error('no')
      },
      hasRoom: () => true,
      least: 1,
    })
    const slot = slotOf('a')
    expect(() => cache.get(slot)).toThrow('no')
    expect(slot.prepared).toBeUndefined()
  })

  it('keeps everything while memory allows, and releases what is used least once it does not', () => {
    let hasRoom = true
    const cache = createOperationCache({ build, hasRoom: () => hasRoom, least: 10 })
    const slots = Array.from({ length: 1000 }, (_, index) => slotOf(String(index)))
    const held = (): number => slots.filter(({ prepared }) => prepared !== undefined).length
    for (const slot of slots) cache.get(slot)
    expect(held()).toBe(1000)
    hasRoom = false
    const used = slots.slice(0, 5)
    for (let index = 0; index < 990; index++) {
      for (const slot of used) cache.get(slot)
      cache.get(slotOf('another'))
    }
    expect(used.every(({ prepared }) => prepared !== undefined)).toBe(true)
    expect(held()).toBeLessThan(20)
  })

  it('never holds more than its limit while there is no room, and ends', () => {
    const isBounded = (limit: number, uses: readonly number[]): boolean => {
      const cache = cacheOf(limit)
      const slots = Array.from({ length: 10 }, (_, index) => slotOf(String(index)))
      return uses.every((use) => {
        const built = cache.get(slots[use] ?? slotOf('none'))
        const held = slots.filter(({ prepared }) => prepared !== undefined)
        return built === `built ${use}` && held.length <= limit
      })
    }
    const uses = fc.array(fc.nat(9), { maxLength: 100 })
    expect(() => {
      fc.assert(fc.property(fc.integer({ min: 1, max: 5 }), uses, isBounded))
    }).not.toThrow()
  })

  it('lets go of documents that have been replaced', async () => {
    const cache = createOperationCache({ build, hasRoom: () => true, least: 100 })
    const gone = (() => {
      const slot = slotOf('gone')
      cache.get(slot)
      return new WeakRef(slot)
    })()
    await collectReleased()
    expect(gone.deref()).toBeUndefined()
    expect(cache.get(slotOf('next'))).toBe('built next')
  })
})
