import { describe, expect, it } from '@jest/globals'
import { createHashQueue } from '../../../dataplane/security/hash-queue.ts'
import { settled } from '../../support/settled.ts'

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

describe('createHashQueue', () => {
  it('runs two at once, patient ones last', async () => {
    const { started, task, end } = work()
    const queue = createHashQueue()
    const run = (name: string, isPatient: boolean): Promise<boolean | undefined> =>
      Promise.resolve(queue.run(task(name), 'a', isPatient))
    const first = run('1', false)
    const results = [run('2', false), run('3', true), run('4', false)]
    expect(started).toEqual(['1', '2'])
    end('1', true)
    expect(await first).toBe(true)
    await settled()
    expect(started).toEqual(['1', '2', '4'])
    end('2', false)
    end('4', true)
    await settled()
    expect(started).toEqual(['1', '2', '4', '3'])
    end('3', true)
    expect(await Promise.all(results)).toEqual([false, true, true])
  })

  it('goes on after a failure', async () => {
    const { started, task, end } = work()
    const queue = createHashQueue()
    const failing = queue.run(task('1'), 'a', false)
    const rest = ['2', '3'].map((name) => Promise.resolve(queue.run(task(name), 'a', false)))
    end('1', new Error('no memory'))
    await expect(failing).rejects.toThrow('no memory')
    await settled()
    expect(started).toEqual(['1', '2', '3'])
    end('2', true)
    end('3', true)
    expect(await Promise.all(rest)).toEqual([true, true])
  })

  it('gives nobody more than half of it, and has an end', async () => {
    const { started, task, end } = work()
    const queue = createHashQueue()
    const ask = (from: string) => queue.run(task(String(started.length)), from, false)
    const from = (who: string, count: number): number =>
      Array.from({ length: count }, () => ask(who)).filter((each) => each !== undefined).length
    expect(from('a', 40)).toBe(32)
    expect(from('b', 40)).toBe(32)
    // Two of them run; 64 wait.
    expect(from('c', 40)).toBe(2)
    expect(from('d', 1)).toBe(0)
    end('0', true)
    await settled()
    expect(from('d', 1)).toBe(1)
  })
})
