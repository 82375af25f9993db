// The fuzzer itself: it finds what is there to be found, makes it small, and does the same again for the same seed.

import { describe, expect, it } from '@jest/globals'
import { seededRandom } from '../support/seeded-random.ts'
import { fuzz, type FuzzPlan, type FuzzTarget, repeat, repeatCommand } from './fuzz.ts'
import { mutateBytes, mutateJson, mutateJsonText } from './mutate.ts'

class Fault extends Error {}

/** Refuses what does not begin with `a`, and breaks at `ab!`. */
const checkText = (input: Buffer): string => {
  const text = input.toString('latin1')
  if (/^ab.*!/s.test(text)) throw new Fault(`broken by "${text}"`)
  if (text.startsWith('ab')) return 'nearly'
  return text.startsWith('a') ? 'begun' : 'refused'
}

const aTarget = (more: Partial<FuzzTarget> = {}): FuzzTarget => ({
  name: 'sample',
  seeds: [Buffer.from('hello'), Buffer.from('world')],
  mutate: (input, random, pool) => mutateBytes(input, { random, pool, tokens: ['a', 'b', '!'] }),
  open: () => ({ check: checkText }),
  ...more,
})

const plan = (cases: number, more: Partial<FuzzPlan> = {}): FuzzPlan => ({
  seed: 1,
  corpus: [],
  isOver: (done) => done >= cases,
  ...more,
})

describe('a run', () => {
  it('finds a fault behind two outcomes, makes it small, and ends', async () => {
    const { failure, cases, outcomes } = await fuzz(aTarget(), plan(200_000))
    expect(failure?.input.toString()).toBe('ab!')
    expect(failure?.error).toBeInstanceOf(Fault)
    expect(failure?.foundBytes).toBeGreaterThanOrEqual(3)
    expect(cases).toBeLessThan(200_000)
    expect(outcomes).toBe(3)
  })

  it.each([
    ['the same inputs for the same seed', 1, true],
    ['others for another one', 2, false],
  ])('checks %s', async (_, seed, isSame) => {
    const inputsOf = async (each: number): Promise<readonly string[]> => {
      const inputs: string[] = []
      await fuzz(
        aTarget({ open: () => ({ check: () => 'fine' }) }),
        plan(50, { seed: each, onCase: (input) => inputs.push(input.toString('hex')) }),
      )
      return inputs
    }
    const [first, second] = [await inputsOf(1), await inputsOf(seed)]
    expect(first).toHaveLength(50)
    expect(JSON.stringify(first) === JSON.stringify(second)).toBe(isSame)
  })

  it('checks earlier failures first, then the seeds', async () => {
    const inputs: string[] = []
    const corpus = [Buffer.from('earlier')]
    await fuzz(aTarget(), plan(0, { corpus, onCase: (input) => inputs.push(input.toString()) }))
    expect(inputs).toEqual(['earlier', 'hello', 'world'])
  })

  it('takes a rejected promise for a fault, and closes what was opened', async () => {
    let closed = 0
    const close = (): Promise<void> => {
      closed += 1
      return Promise.resolve()
    }
    const check = (): Promise<string> => Promise.reject(new Fault('late'))
    const { failure } = await fuzz(aTarget({ open: () => ({ check, close }) }), plan(1))
    expect(failure?.error.message).toBe('late')
    expect(closed).toBe(1)
  })
})

it('a failure is repeated from the line that was printed', async () => {
  const line = repeatCommand('sample', Buffer.from('ab\xff!', 'latin1'))
  const [, base64 = ''] = /FUZZ_INPUT=(\S+)$/.exec(line) ?? []
  await expect(repeat(aTarget(), Buffer.from(base64, 'base64'))).rejects.toThrow('broken by')
  expect(line).toMatch(/^make fuzz FUZZ_TARGET=sample /)
})

describe('mutations', () => {
  const pool = [Buffer.from('{"a":[1,"x"]}'), Buffer.alloc(0)]

  it('keep to their size, and leave the input as it was', () => {
    const random = seededRandom(3)
    const input = Buffer.from('{"a":1}')
    for (let turn = 0; turn < 2000; turn++) {
      const changed = mutateBytes(input, { random, pool, maxBytes: 100 })
      expect(changed.length).toBeLessThanOrEqual(100)
    }
    expect(input.toString()).toBe('{"a":1}')
  })

  it('of JSON are JSON, mostly, also where nothing was', () => {
    const random = seededRandom(4)
    const mutation = { random, pool, keys: ['k'], leaves: ['leaf'] }
    let sound = 0
    for (let turn = 0; turn < 500; turn++) {
      const text = mutateJsonText(Buffer.from('{"a":{"b":[1,2]}}'), mutation).toString()
      try {
        JSON.parse(text)
        sound += 1
      } catch {
        // Bytes are changed, too.
      }
    }
    expect(sound).toBeGreaterThan(250)
    expect(mutateJson(null, mutation)).toBeDefined()
  })
})
