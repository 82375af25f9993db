import { describe, expect, it } from '@jest/globals'
import { loadOnce, singleFlight } from '../../base/single-flight.ts'
import { settled } from '../support/settled.ts'

/** Answers one call after the other when it is told to. */
const answering = () => {
  const calls: { readonly args: readonly string[]; end: (end: string | Error) => void }[] = []
  const ask = (...args: readonly string[]): Promise<string> =>
    new Promise((resolve, reject) => {
      const end = (result: string | Error): void => {
        if (result instanceof Error) reject(result)
        else resolve(result)
      }
      calls.push({ args, end })
    })
  return { calls, ask }
}

const outcomesOf = async (asked: readonly Promise<string>[]): Promise<readonly string[]> =>
  (await Promise.allSettled(asked)).map((each) =>
    each.status === 'fulfilled' ? each.value : String(each.reason),
  )

describe('a single flight', () => {
  it.each<[string, string | Error, string]>([
    ['a result', 'one', 'one'],
    ['a failure', new Error('away'), 'Error: away'],
  ])('gives %s to all callers until then, and begins again after it', async (...row) => {
    const [, end, outcome] = row
    const { calls, ask } = answering()
    const flight = singleFlight(ask)
    const asked = [flight('a'), flight('b')]
    expect(calls.map(({ args }) => args)).toEqual([['a']])
    calls[0]?.end(end)
    expect(await outcomesOf(asked)).toEqual([outcome, outcome])
    const again = flight('c')
    calls[1]?.end('two')
    expect([await again, calls.length]).toEqual(['two', 2])
  })

  it('may be called again by a caller that was waiting for it', async () => {
    const { calls, ask } = answering()
    const flight = singleFlight(ask)
    const both = flight().then(() => flight())
    calls[0]?.end('one')
    await settled()
    expect(calls.length).toBe(2)
    calls[1]?.end('two')
    expect(await both).toBe('two')
  })

  it('goes on after work that threw within the call', async () => {
    let fails = true
    const flight = singleFlight(() => {
      if (fails) throw new Error('at once')
      return Promise.resolve(1)
    })
    expect(() => flight()).toThrow('at once')
    fails = false
    expect(await flight()).toBe(1)
  })
})

describe('what is loaded once', () => {
  it('is loaded for all who ask, ever', async () => {
    const { calls, ask } = answering()
    const load = loadOnce(ask)
    const asked = [load(), load()]
    calls[0]?.end('loaded')
    expect(await outcomesOf([...asked, load()])).toEqual(['loaded', 'loaded', 'loaded'])
    expect(calls.length).toBe(1)
  })

  it('is loaded again after a failure', async () => {
    const { calls, ask } = answering()
    const load = loadOnce(ask)
    const asked = [load(), load()]
    calls[0]?.end(new Error('away'))
    expect(await outcomesOf(asked)).toEqual(['Error: away', 'Error: away'])
    const again = load()
    calls[1]?.end('loaded')
    expect([await again, await load(), calls.length]).toEqual(['loaded', 'loaded', 2])
  })
})
