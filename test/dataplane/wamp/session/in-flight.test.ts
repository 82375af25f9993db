import { expect, it } from '@jest/globals'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createInFlight } from '../../../../dataplane/wamp/session/in-flight.ts'

const named = (name: string) => ({ name })

const ENTRY_WORDS = 200

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void
const collectYoung = (): void => {
  collect({ type: 'minor' })
}

const oldBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')?.space_used_size ??
  NaN

it('has each entry by its id, until it is removed', () => {
  const inFlight = createInFlight<{ name: string }>()
  for (const id of [1, 2, 2 ** 53 - 1]) inFlight.add(id, named(`n${id}`))
  expect(inFlight.get(2)).toEqual(named('n2'))
  expect(inFlight.remove(2)).toEqual(named('n2'))
  expect([inFlight.get(2), inFlight.remove(2), inFlight.get(3)]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
  expect([inFlight.get(1), inFlight.get(2 ** 53 - 1), inFlight.size]).toEqual([
    named('n1'),
    named('n9007199254740991'),
    2,
  ])
})

it('takes places again, and mixes up nothing', () => {
  const inFlight = createInFlight<{ name: string }>()
  const expected = new Map<number, { name: string }>()
  for (let id = 1; id <= 5000; id++) {
    inFlight.add(id, named(`n${id}`))
    expected.set(id, named(`n${id}`))
    // As many as are under way now and then, and never in the order of their coming.
    for (const gone of [id - ((id * 7) % 60), id - 61]) {
      expect(inFlight.remove(gone)).toEqual(expected.get(gone))
      expected.delete(gone)
    }
    expect(inFlight.oldestId()).toBe(expected.keys().next().value)
  }
  expect(inFlight.size).toBe(expected.size)
  expect(inFlight.drain()).toEqual([...expected.values()])
})

it('puts an entry in place of the one with its id', () => {
  const inFlight = createInFlight<{ name: string }>()
  inFlight.add(1, named('old'))
  inFlight.add(2, named('other'))
  inFlight.add(1, named('new'))
  expect(inFlight.size).toBe(2)
  expect(inFlight.drain()).toEqual([named('new'), named('other')])
})

it('is empty at first and once drained', () => {
  const inFlight = createInFlight<{ name: string }>()
  for (let round = 0; round < 2; round++) {
    expect([inFlight.oldestId(), inFlight.size, inFlight.drain()]).toEqual([undefined, 0, []])
    inFlight.add(1, named('x'))
    expect(inFlight.drain()).toEqual([named('x')])
    expect(inFlight.get(1)).toBeUndefined()
  }
})

it('keeps nothing of what was removed from the collection of young garbage', () => {
  const inFlight = createInFlight<object>()
  const churn = (count: number): void => {
    for (let turn = 0; turn < count; turn++) {
      const id = ++lastId
      inFlight.add(
        id,
        Array.from({ length: ENTRY_WORDS }, () => id),
      )
      inFlight.remove(id - 50)
    }
  }
  let lastId = 0
  churn(100)
  // What is there has become old, as it does while nobody asks for anything.
  for (let times = 0; times < 3; times++) collectYoung()
  const before = oldBytes()
  for (let round = 0; round < 20; round++) {
    churn(500)
    collectYoung()
  }
  // Of 10,000 entries those that were in flight at a collection may have become old, 50 at a time.
  expect(oldBytes() - before).toBeLessThan((10_000 * ENTRY_WORDS * 8) / 4)
})
