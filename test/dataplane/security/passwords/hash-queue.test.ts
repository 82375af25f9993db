import { describe, expect, it } from '@jest/globals'
import { type HashCaller, HashQueue } from '../../../../dataplane/security/passwords/hash-queue.ts'
import { seededRandom } from '../../../support/seeded-random.ts'
import { settled } from '../../../support/settled.ts'

/** `network/place`, or a place that is its own network; with `!` one that had a right password. */
const callerOf = (text: string): HashCaller => {
  const place = text.replace('!', '')
  return { network: place.split('/')[0] ?? '', place, isKnown: text.includes('!') }
}

/** Tasks that end when told to. */
const work = () => {
  const started: string[] = []
  const ends = new Map<string, (fits: boolean | Error) => void>()
  const task =
    (name: string): (() => Promise<boolean>) =>
    () => {
      started.push(name)
      return new Promise((resolve, reject) => {
        ends.set(name, (end) => {
          if (end instanceof Error) reject(end)
          else resolve(end)
        })
      })
    }
  return { started, task, end: (name: string, result: boolean | Error) => ends.get(name)?.(result) }
}

/** A queue whose hashes end in the order in which they began, one at each `turn`. */
const workshop = () => {
  const { started, task, end } = work()
  const queue = new HashQueue()
  const outcomes = new Map<string, 'done' | 'gave way'>()
  let ended = 0
  const ask = (name: string, from: string): void => {
    void queue.run(task(name), callerOf(from)).then((result) => {
      outcomes.set(name, result === undefined ? 'gave way' : 'done')
    })
  }
  const turn = async (): Promise<void> => {
    const name = started[ended]
    if (name === undefined) return
    ended++
    end(name, true)
    await settled()
  }
  return { ask, turn, started, outcomes }
}

const names = (from: string, count: number): string[] =>
  Array.from({ length: count }, (_, at) => `${from}${at}`)

describe('a hash queue', () => {
  it('runs two at once and gives what they give', async () => {
    const { started, task, end } = work()
    const queue = new HashQueue()
    const results = ['1', '2', '3'].map((name) => queue.run(task(name), callerOf('a')))
    expect(started).toEqual(['1', '2'])
    end('1', true)
    expect(await results[0]).toBe(true)
    await settled()
    expect(started).toEqual(['1', '2', '3'])
    end('2', false)
    end('3', true)
    expect(await Promise.all(results)).toEqual([true, false, true])
  })

  it('goes on after a failure', async () => {
    const { started, task, end } = work()
    const queue = new HashQueue()
    const failing = queue.run(task('1'), callerOf('a'))
    const rest = ['2', '3'].map((name) => queue.run(task(name), callerOf('a')))
    end('1', new Error('no memory'))
    await expect(failing).rejects.toThrow('no memory')
    await settled()
    expect(started).toEqual(['1', '2', '3'])
    end('2', true)
    end('3', true)
    expect(await Promise.all(rest)).toEqual([true, true])
  })

  it('addresses take turns, each in its own order', async () => {
    const { ask, turn, started } = workshop()
    for (const name of [...names('a', 6), ...names('b', 2), ...names('c', 3)])
      ask(name, name.charAt(0))
    for (let time = 0; time < 11; time++) await turn()
    expect(started).toEqual('a0 a1 a2 b0 c0 a3 b1 c1 a4 c2 a5'.split(' '))
  })

  it.each<[string, readonly string[], readonly string[]]>([
    ['of one address: its newest', names('a', 67), ['a66']],
    ['of two: the newest of who has more', [...names('a', 40), ...names('b', 27)], ['a39']],
    ['one that has less comes in', [...names('a', 66), ...names('b', 3)], ['a65', 'a64', 'a63']],
    ['one that has as many does not', [...names('a', 34), ...names('b', 33)], ['b32']],
    [
      'of 65 unknown clients: the last one',
      ['r0', 'r1', ...Array.from({ length: 65 }, (_, at) => `${String.fromCharCode(200 + at)}0`)],
      [`${String.fromCharCode(264)}0`],
    ],
  ])('beyond 64 that wait one gives way %s', async (_, asked, gaveWay) => {
    const { ask, outcomes } = workshop()
    for (const name of asked) ask(name, name.charAt(0))
    await settled()
    expect([...outcomes.keys()]).toEqual(gaveWay)
    expect(new Set(outcomes.values())).toEqual(new Set(['gave way']))
  })

  it('networks take turns, and addresses within them', async () => {
    const { ask, turn, started } = workshop()
    for (const name of ['n/1a', 'n/1b', 'n/2a', 'n/2b', 'n/3a', 'm/1a', 'm/1b'])
      ask(name, name.slice(0, 3))
    for (let time = 0; time < 7; time++) await turn()
    expect(started).toEqual(['n/1a', 'n/1b', 'n/2a', 'm/1a', 'n/3a', 'm/1b', 'n/2b'])
  })

  it('a network of very many addresses, each used once, displaces no other', async () => {
    const { ask, turn, outcomes, started } = workshop()
    let asked = 0
    const flood = (): void => {
      for (let at = 0; at < 120; at++) ask(`guess ${asked++}`, `attacker/${asked}`)
    }
    flood()
    for (const name of names('owner', 5)) {
      ask(name, name)
      flood()
      for (let time = 0; time < 6; time++) await turn()
      expect(outcomes.get(name)).not.toBe('gave way')
      expect(started).toContain(name)
    }
  })

  it.each([
    ['in networks that never come again', (at: number) => `net ${at}`],
    ['at their own address', () => 'owner'],
  ])('others, however many, leave half to callers with a right password: %s', async (_, from) => {
    const { ask, turn, outcomes, started } = workshop()
    let asked = 0
    const flood = (): void => {
      for (let at = 0; at < 120; at++) ask(`guess ${asked++}`, from(asked))
    }
    for (let round = 0; round < 3; round++) {
      flood()
      const owners = names(`owner ${round} `, 32)
      for (const name of owners) ask(name, `${name}!`)
      for (let time = 0; time < 70; time++) {
        flood()
        await turn()
      }
      expect(owners.filter((name) => outcomes.get(name) !== 'done')).toEqual([])
    }
    // Others had half of the turns.
    const guesses = started.filter((name) => name.startsWith('guess'))
    expect(guesses.length / started.length).toBeGreaterThan(0.45)
  })

  it('callers with a right password leave half to others, and one of many to the rest', async () => {
    const { ask, turn, outcomes } = workshop()
    let asked = 0
    const flood = (): void => {
      for (let at = 0; at < 120; at++) ask(`known ${asked++}`, 'insider!')
    }
    flood()
    for (const name of names('new', 32)) ask(name, name)
    ask('other', 'other!')
    for (let time = 0; time < 70; time++) {
      flood()
      await turn()
    }
    for (const name of ['other', ...names('new', 32)]) expect(outcomes.get(name)).toBe('done')
  })

  it('ends empty whatever was called, and every task ran once or gave way', async () => {
    const random = seededRandom(12)
    for (let round = 0; round < 20; round++) {
      const { ask, turn, started, outcomes } = workshop()
      const addresses = 1 + Math.floor(random() * 100)
      for (let at = 0; at < 500; at++) {
        const from = Math.floor(random() * addresses)
        ask(`t${at}`, `${from % 7}/${from}${random() < 0.2 ? '!' : ''}`)
        if (random() < 0.3) await turn()
      }
      for (let time = 0; time < 100; time++) await turn()
      expect(outcomes.size).toBe(500)
      const done = [...outcomes].filter(([, outcome]) => outcome === 'done').map(([name]) => name)
      expect(done.sort()).toEqual([...started].sort())
    }
  })
})

describe('somebody who comes now and then', () => {
  it.each([
    ['three', 3, 30],
    ['ten', 10, 10],
    ['a hundred', 100, 2],
    ['a hundred that send one each', 100, 1],
  ])('is not kept out by %s addresses that ask all the time', async (_, addresses, each) => {
    const { ask, turn, outcomes, started } = workshop()
    const random = seededRandom(addresses + each)
    let asked = 0
    const flood = (): void => {
      for (let at = 0; at < addresses * each; at++)
        ask(`guess ${asked++}`, `attacker ${Math.floor(random() * addresses)}`)
    }
    for (let time = 0; time < 200; time++) {
      flood()
      await turn()
    }
    for (const name of names('owner', 5)) {
      flood()
      ask(name, 'owner')
      const before = started.length
      while (!started.includes(name)) {
        flood()
        await turn()
        expect(outcomes.get(name)).not.toBe('gave way')
      }
      expect(started.length - before).toBeLessThanOrEqual(Math.min(addresses, 64) + 1)
      for (let time = 0; time < 100; time++) {
        flood()
        await turn()
      }
    }
  })
})
