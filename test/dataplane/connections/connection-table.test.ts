import { describe, expect, it } from '@jest/globals'
import { ConnectionTable, type Place } from '../../../dataplane/connections/connection-table.ts'
import { seededRandom } from '../../support/seeded-random.ts'

const from = (key: string): Place => ({ key, isLimited: true })
const proxy = (key: string): Place => ({ key, isLimited: false })

/** A table for `max` connections, and what is idle of it. */
const tableOf = (max: number) => {
  const idle = new Set<string>()
  const table = new ConnectionTable<string>({ max, isIdle: (name) => idle.has(name) })
  const fill = (place: Place, count: number, isIdle = false): void => {
    for (let each = 0; each < count; each++) {
      const name = `${place.key}#${each}`
      if (isIdle) idle.add(name)
      expect(table.enter(name, place)).toEqual(ENTERED)
    }
  }
  return { table, idle, fill }
}

const ENTERED = { kind: 'entered', closes: undefined }
const SHARE = { kind: 'refused', reason: 'share' }
const FULL = { kind: 'refused', reason: 'full' }
const closing = (closes: string) => ({ kind: 'entered', closes })

describe('the share of one place', () => {
  it('is everything up to 80 % of all', () => {
    const { table, fill } = tableOf(100)
    fill(from('a'), 81)
    expect(table.enter('one more', from('a'))).toEqual(SHARE)
    expect(table.size).toBe(81)
  })

  it('is a quarter beyond', () => {
    const { table, fill } = tableOf(100)
    fill(from('a'), 60)
    fill(from('b'), 21)
    fill(from('c'), 15)
    expect(table.enter('one more', from('a'))).toEqual(SHARE)
    table.leave('b#0')
    expect(table.enter('b again', from('b'))).toEqual(ENTERED)
    expect(table.enter('new', from('d'))).toEqual(ENTERED)
  })

  it('counts for no proxy', () => {
    const { table, fill } = tableOf(100)
    fill(proxy('a'), 100)
    expect(table.enter('one more', proxy('a'))).toEqual(FULL)
  })

  it('counts when it turns out where a connection comes from', () => {
    const { table, fill } = tableOf(100)
    fill(from('a'), 80)
    fill(proxy('balancer'), 2)
    expect(table.move('balancer#0', from('b'))).toBe(true)
    expect(table.move('balancer#1', from('a'))).toBe(false)
    expect(table.size).toBe(81)
    table.leave('balancer#1')
    expect(table.size).toBe(81)
  })

  it('is one connection at least', () => {
    const { table } = tableOf(1)
    expect(table.enter('first', from('a'))).toEqual(ENTERED)
    expect(table.enter('second', from('b'))).toEqual(FULL)
  })
})

describe('where all are in use', () => {
  it.each<[string, readonly (readonly [Place, number, boolean])[], Place, unknown]>([
    ['no connection is idle', [[from('a'), 25, false]], from('new'), FULL],
    ['the place with most', [[from('a'), 25, true]], from('new'), closing('a#0')],
    ['a proxy too', [[proxy('a'), 60, true]], from('new'), closing('a#0')],
    [
      'the next where that is busy',
      [
        [from('a'), 25, false],
        [from('b'), 20, true],
      ],
      from('new'),
      closing('b#0'),
    ],
    ['not one that has as few', [[from('a'), 1, true]], from('b'), FULL],
    ['not the own', [[proxy('a'), 25, true]], proxy('a'), FULL],
  ])('an idle one goes: %s', (_, filled, place, expected) => {
    const { table, fill } = tableOf(100)
    for (const [each, count, isIdle] of filled) fill(each, count, isIdle)
    // Each of a place of its own, and busy.
    for (let each = 0; table.size < 100; each++) fill(proxy(`z${each}`), 1)
    // Somebody who has one already.
    if (place.key === 'b') table.move('z0#0', from('b'))
    expect(table.enter('one more', place)).toEqual(expected)
    expect(table.size).toBe(100)
  })

  it('others are looked at each time', () => {
    const { table, idle, fill } = tableOf(1000)
    fill(proxy('a'), 1000)
    idle.add('a#700')
    const outcomes = [1, 2, 3, 4].map((each) => table.enter(`new ${each}`, from(`n${each}`)).kind)
    expect(outcomes).toEqual(['refused', 'refused', 'entered', 'refused'])
  })
})

/** Does something by chance to a table and to a list of what it must hold. */
const stepOf = (random: () => number) => {
  const { table, idle } = tableOf(50)
  const open = new Set<string>()
  const pick = (): string => [...open][Math.floor(random() * open.size)] ?? ''
  const enter = (name: string, place: Place): boolean => {
    const entrance = table.enter(name, place)
    if (entrance.kind === 'refused') return true
    open.add(name)
    if (random() < 0.3) idle.add(name)
    return (
      entrance.closes === undefined || (idle.has(entrance.closes) && open.delete(entrance.closes))
    )
  }
  /** False: it has closed what was not idle, or not there. */
  const step = (name: string): boolean => {
    const place = (random() < 0.2 ? proxy : from)(`p${Math.floor(random() ** 2 * 20)}`)
    const what = random()
    if (what < 0.6) return enter(name, place)
    const other = pick()
    if (what < 0.8) table.leave(other)
    if (what < 0.8 || (open.has(other) && !table.move(other, place))) open.delete(other)
    return true
  }
  return { table, open, step }
}

it('keeps its books whatever happens', () => {
  const { table, open, step } = stepOf(seededRandom(7))
  for (let each = 0; each < 20_000; each++) {
    expect(step(`c${each}`)).toBe(true)
    expect(table.size).toBe(open.size)
    expect(table.size).toBeLessThanOrEqual(50)
  }
  for (const name of open) table.leave(name)
  expect(table.size).toBe(0)
  expect(table.enter('first', from('a'))).toEqual(ENTERED)
})
