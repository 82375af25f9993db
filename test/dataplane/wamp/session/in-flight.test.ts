import { expect, it } from '@jest/globals'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createInFlight, type Linked } from '../../../../dataplane/wamp/session/in-flight.ts'

class Entry implements Linked<Entry> {
  isInFlight = false
  older: Entry | undefined = undefined
  younger: Entry | undefined = undefined
  readonly id: number
  readonly held: readonly number[]

  constructor(id: number, held: readonly number[] = []) {
    this.id = id
    this.held = held
  }
}

const idsOf = (entries: readonly Entry[]): readonly number[] => entries.map(({ id }) => id)

const ENTRY_WORDS = 200

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void
const collectYoung = (): void => {
  collect({ type: 'minor' })
}

const oldBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')?.space_used_size ??
  NaN

it('removes each entry once, and links it to nothing more', () => {
  const inFlight = createInFlight<Entry>()
  const entries = [1, 2, 3].map((id) => new Entry(id))
  for (const entry of entries) inFlight.add(entry)
  for (const index of [1, 0, 2]) {
    const entry = entries[index] ?? new Entry(0)
    expect([inFlight.remove(entry), inFlight.remove(entry)]).toEqual([true, false])
    expect(entry).toEqual(new Entry(index + 1))
  }
  expect([inFlight.oldest(), inFlight.size]).toEqual([undefined, 0])
})

it('keeps the order of adding, whatever is removed between', () => {
  const inFlight = createInFlight<Entry>()
  const expected = new Map<number, Entry>()
  for (let id = 1; id <= 5000; id++) {
    const added = new Entry(id)
    inFlight.add(added)
    expected.set(id, added)
    // As many as are under way now and then, and never in the order of their coming.
    for (const gone of [id - ((id * 7) % 60), id - 61]) {
      const entry = expected.get(gone)
      expect(entry !== undefined && inFlight.remove(entry)).toBe(expected.delete(gone))
    }
    expect(inFlight.oldest()).toBe(expected.values().next().value)
  }
  expect(inFlight.size).toBe(expected.size)
  expect(idsOf(inFlight.drain())).toEqual([...expected.keys()])
})

it('is empty at first and once drained', () => {
  const inFlight = createInFlight<Entry>()
  for (let round = 0; round < 2; round++) {
    expect([inFlight.oldest(), inFlight.size, inFlight.drain()]).toEqual([undefined, 0, []])
    const entry = new Entry(1)
    inFlight.add(entry)
    expect(inFlight.drain()).toEqual([entry])
    expect(inFlight.remove(entry)).toBe(false)
  }
})

it('keeps nothing of what was removed from the collection of young garbage', () => {
  const inFlight = createInFlight<Entry>()
  const recent: Entry[] = []
  const churn = (count: number): void => {
    for (let turn = 0; turn < count; turn++) {
      const id = ++lastId
      const entry = new Entry(
        id,
        Array.from({ length: ENTRY_WORDS }, () => id),
      )
      inFlight.add(entry)
      const gone = recent[id % 50]
      if (gone !== undefined) inFlight.remove(gone)
      recent[id % 50] = entry
    }
  }
  let lastId = 0
  churn(100)
  // What is there has become old, as it does while nothing is asked for.
  for (let times = 0; times < 3; times++) collectYoung()
  const before = oldBytes()
  for (let round = 0; round < 20; round++) {
    churn(500)
    collectYoung()
  }
  // Of 10,000 entries those that were in flight at a collection may have become old, 50 at a time.
  expect(oldBytes() - before).toBeLessThan((10_000 * ENTRY_WORDS * 8) / 4)
})
