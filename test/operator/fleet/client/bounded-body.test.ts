import { describe, expect, it } from '@jest/globals'
import { Limiter } from '../../../../base/limiter.ts'
import { responseBound, ResponseError } from '../../../../operator/fleet/client/bounded-body.ts'
import { readBounded } from '../../../support/read-bounded.ts'

async function* pieces(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size)
    yield await Promise.resolve(bytes.subarray(at, at + size))
}

const BOUND = { bytes: 1000, values: 10 }

const isExcessive = (error: unknown): error is ResponseError =>
  error instanceof ResponseError && error.code === 'excessive'

/** The text, or why it was not read. */
const read = (text: string, size = 7): Promise<string> =>
  readBounded(pieces(text, size), { bound: BOUND }).catch((error: unknown) =>
    isExcessive(error) ? `excess: ${error.message}` : 'other',
  )

const LARGE = /^excess: .*larger than 1000 bytes/
const MANY = /^excess: .*more than 10 values/
const DEEP = /^excess: .*nested more than 80 levels/

describe('a response', () => {
  it.each([
    ['nothing', '', /^$/],
    ['as much as it may have', 'x'.repeat(1000), /^x{1000}$/],
    ['one byte more', 'x'.repeat(1001), LARGE],
    ['as many values as it may have', `[${'1,'.repeat(9)}1]`, /^\[/],
    ['one more', `[${'1,'.repeat(10)}1]`, MANY],
    ['empty maps', '{}'.repeat(11), MANY],
    ['empty lists', '[]'.repeat(11), MANY],
    ['marks within a text', JSON.stringify('{[,'.repeat(100)), /^"/],
    [
      'marks within a text, after quotes that are escaped',
      JSON.stringify('"{[,\\'.repeat(99)),
      /^"/,
    ],
    ['marks after a text that ends with a backslash', `"\\\\"${'[]'.repeat(11)}`, MANY],
    ['letters of several bytes', '"žluťoučký kůň 🐎"', /^"žluťoučký kůň 🐎"$/],
  ])('%s', async (_name, text, expected) => {
    expect(await read(text)).toMatch(expected)
    expect(await read(text, 1)).toMatch(expected)
  })

  it.each([
    ['80 levels', 80, /^\[/],
    ['81 levels', 81, DEEP],
  ])('%s', async (_name, levels, expected) => {
    const bound = { bytes: 1000, values: 1000 }
    const text = '['.repeat(levels) + ']'.repeat(levels)
    const result = await readBounded(pieces(text, 7), { bound }).catch((error: unknown) =>
      isExcessive(error) ? `excess: ${error.message}` : 'other',
    )
    expect(result).toMatch(expected)
  })

  it('may have more with every entry that is expected in it', () => {
    const [small, large] = [responseBound(1000, 0), responseBound(1000, 10_000)]
    expect(large.bytes - small.bytes).toBe(10_000)
    expect(large.values).toBeGreaterThan(small.values)
  })
})

describe('what several data planes answer together', () => {
  const unending = async function* (): AsyncGenerator<Uint8Array> {
    for (;;) yield await Promise.resolve(Buffer.alloc(100))
  }

  it('is bounded, and one that is too much is at fault for nothing', async () => {
    const budget = new Limiter(250)
    const reading = readBounded(unending(), { bound: BOUND, budget })
    await expect(reading).rejects.toThrow(/too much at once/)
    await expect(reading).rejects.toMatchObject({ code: 'overloaded' })
    expect(budget.used).toBe(0)
  })

  it.each([
    ['that were read', () => pieces('x'.repeat(900), 100)],
    ['that were too large', unending],
    [
      'that broke off',
      async function* (): AsyncGenerator<Uint8Array> {
        yield await Promise.resolve(Buffer.alloc(100))
        throw new Error('broken')
      },
    ],
  ])('has room again after answers %s', async (_name, body) => {
    const budget = new Limiter(5000)
    await readBounded(body(), { bound: BOUND, budget }).catch(() => undefined)
    expect(budget.used).toBe(0)
  })
})
