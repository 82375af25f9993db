import { describe, expect, it } from '@jest/globals'
import { createRouterLookup, type ResolveName } from '../../../dataplane/wamp/router-lookup.ts'

/** Name servers that answer when the test says so, and a clock that it sets. */
const scene = () => {
  const asked: { readonly name: string; readonly answer: Parameters<ResolveName>[2] }[] = []
  const told: string[] = []
  let nowMs = 0
  const lookup = createRouterLookup(
    (name, _options, answer) => asked.push({ name, answer }),
    () => nowMs,
  )
  return {
    asked: () => asked.map(({ name }) => name),
    told,
    pass: (ms: number) => (nowMs += ms),
    look: (name: string, all = true) => {
      lookup(name, { all }, (error, addresses) => {
        told.push(`${name} ${error === null ? JSON.stringify(addresses) : error.message}`)
      })
    },
    /** Of what was asked last. */
    answer: (address: string | Error) => {
      const last = asked.at(-1)
      if (address instanceof Error) last?.answer(address, [])
      else last?.answer(null, address === '' ? [] : [{ address, family: 4 }])
    },
  }
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

describe('createRouterLookup', () => {
  it('looks up one name at a time, and each once for all who wait for it', () => {
    const { asked, told, look, answer } = scene()
    for (const name of ['a', 'b', 'a', 'b', 'a']) look(name)
    expect(asked()).toEqual(['a'])
    answer('127.0.0.1')
    expect(told).toEqual(Array(3).fill('a [{"address":"127.0.0.1","family":4}]'))
    expect(asked()).toEqual(['a', 'b'])
    answer(new Error('no such name'))
    expect(told.slice(3)).toEqual(['b no such name', 'b no such name'])
    look('a')
    expect(asked()).toEqual(['a', 'b', 'a'])
  })

  it('names that were slow come after those that were not', () => {
    const { asked, look, answer, pass } = scene()
    look('dead')
    pass(10_000)
    answer(new Error('EAI_AGAIN'))
    look('busy')
    look('dead')
    look('quick')
    answer('127.0.0.1')
    expect(asked()).toEqual(['dead', 'busy', 'quick'])
    answer('127.0.0.1')
    expect(asked()).toEqual(['dead', 'busy', 'quick', 'dead'])
    // It has recovered.
    answer('127.0.0.1')
    look('busy')
    look('dead')
    look('quick')
    answer('127.0.0.1')
    expect(asked().slice(4)).toEqual(['busy', 'dead'])
  })

  it('a slow answer is good for the next dials, for ten seconds', async () => {
    const { asked, told, look, answer, pass } = scene()
    look('slow')
    pass(5000)
    answer('127.0.0.1')
    pass(9000)
    look('slow')
    expect(told).toHaveLength(1)
    await nextTurn()
    expect(told).toHaveLength(2)
    pass(1000)
    look('slow')
    expect(asked()).toEqual(['slow', 'slow'])
  })

  it('a slow failure is not kept', () => {
    const { asked, look, answer, pass } = scene()
    look('dead')
    pass(5000)
    answer(new Error('EAI_AGAIN'))
    look('dead')
    expect(asked()).toEqual(['dead', 'dead'])
  })

  it('gives one address to who wants one, and says when there is none', () => {
    const { told, look, answer } = scene()
    look('a', false)
    answer('127.0.0.1')
    look('a', false)
    answer('')
    expect(told).toEqual(['a "127.0.0.1"', 'a this name has no address'])
  })

  it('who dials again and again while a name hangs leaves a bounded number behind', () => {
    const { told, look } = scene()
    for (let n = 0; n < 6000; n++) look('dead')
    expect(told).toHaveLength(1000)
    expect(new Set(told)).toEqual(new Set(['dead too many connections wait for this name']))
  })

  it('reserved words are names like others', () => {
    const { told, look, answer } = scene()
    for (const name of ['__proto__', 'constructor']) {
      look(name)
      answer('127.0.0.1')
    }
    expect(told).toHaveLength(2)
  })

  it('asks the system when left to itself', async () => {
    const { promise, resolve } = Promise.withResolvers<unknown>()
    createRouterLookup()('localhost', { all: true }, (_error, addresses) => {
      resolve(addresses)
    })
    expect(await promise).toContainEqual({ address: '127.0.0.1', family: 4 })
  })
})
