import { describe, expect, it } from '@jest/globals'
import {
  type Holding,
  MemoryBudget,
  type MemoryBudgetOptions,
} from '../../../dataplane/memory/memory-budget.ts'

/** A client whose connection holds what its holding says. */
class Client {
  isClosed = false
  readonly holding: Holding

  constructor(budget: MemoryBudget) {
    this.holding = budget.open(this)
  }

  destroy(): void {
    this.isClosed = true
  }
}

const SIZE = 1_000_000
const open = (options: Partial<MemoryBudgetOptions> = {}): MemoryBudget =>
  new MemoryBudget({ size: SIZE, ...options })

/** A budget of which so many bytes are held by somebody who is never closed. */
const openWith = (held: number, options: Partial<MemoryBudgetOptions> = {}): MemoryBudget => {
  const budget = open(options)
  budget.open().add(held)
  return budget
}

describe('a budget of 1,000,000 bytes', () => {
  it.each([
    { held: 0, bytes: 800_000, isGranted: true },
    { held: 0, bytes: 800_001, isGranted: false },
    { held: 750_000, bytes: 50_000, isGranted: true },
    { held: 750_000, bytes: 50_001, isGranted: false },
    { held: 900_000, bytes: 16_384, isGranted: true },
    { held: 900_000, bytes: 16_385, isGranted: false },
  ])('with $held held, lets somebody new reserve $bytes: $isGranted', (row) => {
    const budget = openWith(row.held)
    const { holding } = new Client(budget)
    expect(holding.hasRoomFor(row.bytes)).toBe(row.isGranted)
    expect(holding.reserve(row.bytes)).toBe(row.isGranted)
    expect(budget.held).toBe(row.held + (row.isGranted ? row.bytes : 0))
  })

  it.each([
    { held: 900_000, bytes: 50_000, isGranted: true },
    { held: 900_000, bytes: 50_001, isGranted: false },
    { held: 960_000, bytes: 16_384, isGranted: true },
  ])('with $held held, lets values of $bytes be decoded: $isGranted', (row) => {
    const { holding } = new Client(openWith(row.held))
    expect(holding.reserveValues(row.bytes)).toBe(row.isGranted)
  })

  it('lets what has begun to hold much go on while memory is tight', () => {
    const budget = open()
    const upload = new Client(budget)
    expect(upload.holding.reserve(20_000)).toBe(true)
    budget.open().add(800_000)
    expect(budget.isTight).toBe(true)
    expect(upload.holding.reserve(20_000)).toBe(true)
    expect(new Client(budget).holding.reserve(20_000)).toBe(false)
  })

  it('refuses what has no owner whenever memory is tight: it could not be closed', () => {
    const budget = openWith(700_000)
    const line = budget.open()
    expect(line.reserve(100_000)).toBe(true)
    expect(line.reserve(1)).toBe(false)
  })

  it('closes the largest owners when memory comes to its end, and no more than needed', () => {
    const closed: (readonly [number, number])[] = []
    const budget = open({ onClosed: (...args) => closed.push(args) })
    const clients = [100_000, 300_000, 200_000, 200_000].map((bytes) => {
      const client = new Client(budget)
      client.holding.add(bytes)
      return client
    })
    const last = new Client(budget)
    last.holding.add(150_001)
    expect([...clients, last].map(({ isClosed }) => isClosed)).toEqual([
      false,
      true,
      false,
      false,
      false,
    ])
    expect(budget.held).toBe(650_001)
    expect(closed).toEqual([[1, 300_000]])
  })

  it('closes who asks for more when that is the largest, and grants it nothing any more', () => {
    const budget = openWith(600_000)
    const client = new Client(budget)
    expect(client.holding.reserve(150_000)).toBe(true)
    expect(client.holding.reserve(250_000)).toBe(false)
    expect(client.isClosed).toBe(true)
    expect(client.holding.reserve(1)).toBe(false)
    expect(client.holding.reserveValues(1)).toBe(false)
    expect(budget.held).toBe(600_000)
  })

  it('adds up what one owner holds in several places', () => {
    const budget = openWith(500_000)
    const owner = new Client(budget)
    const other = new Client(budget)
    other.holding.add(150_000)
    for (let each = 0; each < 5; each++) budget.open(owner).add(40_000)
    budget.open().add(101_000)
    expect([owner.isClosed, other.isClosed]).toEqual([true, false])
  })

  it('leaves alone who holds little, also when nothing else can be closed', () => {
    const budget = openWith(960_000)
    const client = new Client(budget)
    client.holding.add(16_384)
    expect(client.isClosed).toBe(false)
  })

  it('counts what else of the heap is in use after a collection', () => {
    const budget = open({ heapUse: 100_000 })
    const client = new Client(budget)
    client.holding.reserveValues(200_000)
    client.holding.add(50_000)
    // The values are in the heap too: they count once. Buffers are not.
    budget.collected(700_000)
    expect([budget.inUse, budget.held]).toEqual([750_000, 250_000])
    expect(budget.isTight).toBe(false)
    budget.collected(760_000)
    expect(budget.isTight).toBe(true)
    client.holding.release()
    expect([budget.inUse, budget.held]).toEqual([560_000, 0])
  })

  it('closes the largest when a collection leaves too much', () => {
    const budget = open()
    const client = new Client(budget)
    client.holding.add(100_000)
    budget.collected(900_000)
    expect(client.isClosed).toBe(true)
    expect(budget.held).toBe(0)
  })

  it('tells when memory becomes tight and when it is no more, once each', () => {
    const told: boolean[] = []
    const budget = open()
    budget.onTight((isTight) => told.push(isTight))
    const { holding } = new Client(budget)
    holding.add(700_000)
    holding.add(110_000)
    holding.add(10_000)
    holding.subtract(10_000)
    holding.subtract(20_000)
    holding.release()
    expect(told).toEqual([true, false])
    expect(budget.held).toBe(0)
  })

  it('counts what is refused', () => {
    let refused = 0
    const budget = openWith(900_000, { onRefused: () => refused++ })
    new Client(budget).holding.reserve(20_000)
    new Client(budget).holding.reserveValues(100_000)
    expect(refused).toBe(2)
  })

  it('is scarce when more than half of what code and documents leave is held', () => {
    const budget = open({ heapUse: 200_000 })
    const { holding } = new Client(budget)
    holding.add(400_000)
    expect(budget.isScarce).toBe(false)
    holding.add(1)
    expect(budget.isScarce).toBe(true)
  })
})
