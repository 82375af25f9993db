import { describe, expect, it } from '@jest/globals'
import { createNameLookup, type Resolve, socketLookup } from '../../dataplane/name-lookup.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { settled } from '../support/settled.ts'

/** Name servers that answer when the test says so, and a clock that it sets. */
const scene = () => {
  const asked: string[] = []
  const hanging = new Map<string, Parameters<Resolve>[2]>()
  const told: string[] = []
  const clock = createManualClock()
  const names = createNameLookup(
    (name, _options, response) => {
      asked.push(name)
      hanging.set(name, response)
    },
    () => clock.now(),
  )
  const lookup = socketLookup(names)
  const answer = (name: string, address: string | Error = '127.0.0.1'): void => {
    const callback = hanging.get(name)
    if (callback === undefined) throw new Error(`no lookup of ${name}`)
    hanging.delete(name)
    if (address instanceof Error) callback(address, [])
    else callback(null, address === '' ? [] : [{ address, family: 4 }])
  }
  const look = (name: string, all = true): void => {
    lookup(name, { all }, (error, addresses) => {
      told.push(`${name} ${error === null ? JSON.stringify(addresses) : error.message}`)
    })
  }
  const pass = (ms: number): void => {
    clock.advance(ms)
  }
  /** Names that have taken ten seconds to fail. */
  const hasBeenSlow = (...slow: readonly string[]): void => {
    for (const name of slow) {
      look(name)
      pass(10_000)
      answer(name, new Error('EAI_AGAIN'))
    }
    asked.length = 0
    told.length = 0
  }
  return { asked, told, pass, look, answer, hasBeenSlow }
}

describe('createNameLookup', () => {
  it('looks up two names at a time, and each once for all who wait for it', () => {
    const { asked, told, look, answer } = scene()
    for (const name of ['a', 'b', 'c', 'a', 'c', 'b', 'a']) look(name)
    expect(asked).toEqual(['a', 'b'])
    answer('a')
    expect(told).toEqual(Array(3).fill('a [{"address":"127.0.0.1","family":4}]'))
    expect(asked).toEqual(['a', 'b', 'c'])
    answer('b', new Error('no such name'))
    answer('c', new Error('no such name'))
    expect(told.slice(3)).toEqual([
      'b no such name',
      'b no such name',
      'c no such name',
      'c no such name',
    ])
    look('a')
    expect(asked).toEqual(['a', 'b', 'c', 'a'])
  })

  it('many requests to one dead name leave the others alone', () => {
    const { asked, told, look, answer } = scene()
    for (let n = 0; n < 100; n++) look('dead')
    for (const name of ['a', 'b', 'c']) {
      look(name)
      answer(name)
    }
    expect(asked).toEqual(['dead', 'a', 'b', 'c'])
    expect(told).toHaveLength(3)
  })

  it('names that were slow come last, and one at a time', () => {
    const { asked, look, answer, hasBeenSlow } = scene()
    hasBeenSlow('dead', 'gone', 'lost')
    for (const name of ['dead', 'gone', 'lost']) look(name)
    expect(asked).toEqual(['dead'])
    for (const name of ['a', 'b', 'c']) look(name)
    expect(asked).toEqual(['dead', 'a'])
    for (const name of ['a', 'b', 'c']) answer(name)
    expect(asked).toEqual(['dead', 'a', 'b', 'c'])
    answer('dead', new Error('EAI_AGAIN'))
    expect(asked).toEqual(['dead', 'a', 'b', 'c', 'gone'])
    // It has recovered: the next time it waits for no other.
    answer('gone')
    expect(asked.at(-1)).toBe('lost')
    look('gone')
    expect(asked.at(-1)).toBe('gone')
  })

  it('a slow response is good for the next dials, for ten seconds', async () => {
    const { asked, told, look, answer, pass } = scene()
    look('slow')
    pass(5000)
    answer('slow')
    pass(9000)
    look('slow')
    expect(told).toHaveLength(1)
    await settled()
    expect(told).toHaveLength(2)
    pass(1000)
    look('slow')
    expect(asked).toEqual(['slow', 'slow'])
  })

  it('a slow failure is not kept', () => {
    const { asked, look, answer, pass } = scene()
    look('dead')
    pass(5000)
    answer('dead', new Error('EAI_AGAIN'))
    look('dead')
    expect(asked).toEqual(['dead', 'dead'])
  })

  it('gives one address to who wants one, and says when there is none', () => {
    const { told, look, answer } = scene()
    look('a', false)
    answer('a')
    look('a', false)
    answer('a', '')
    expect(told).toEqual(['a "127.0.0.1"', 'a this name has no address'])
  })

  it('who dials again and again while a name hangs leaves a bounded number behind', () => {
    const { told, look } = scene()
    for (let n = 0; n < 6000; n++) look('dead')
    expect(told).toHaveLength(1000)
    expect(new Set(told)).toEqual(new Set(['dead too many connections wait for this name']))
  })

  it('names without end are refused while others hang', async () => {
    const { asked, told, look } = scene()
    for (let n = 0; n < 10_102; n++) look(`name-${n}`)
    await settled()
    expect(asked).toHaveLength(2)
    expect(told).toHaveLength(100)
    expect(told[0]).toBe('name-10002 too many names wait to be looked up')
  })

  it('reserved words are names like others', () => {
    const { told, look, answer } = scene()
    for (const name of ['__proto__', 'constructor']) {
      look(name)
      answer(name)
    }
    expect(told).toHaveLength(2)
  })

  it('asks the system when left to itself', async () => {
    const { promise, resolve } = Promise.withResolvers<unknown>()
    socketLookup(createNameLookup())('localhost', { all: true }, (_error, addresses) => {
      resolve(addresses)
    })
    expect(await promise).toContainEqual({ address: '127.0.0.1', family: 4 })
  })
})
