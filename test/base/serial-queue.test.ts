import { expect, it } from '@jest/globals'
import { QueueFullError } from '../../base/queue-full-error.ts'
import { SerialQueue } from '../../base/serial-queue.ts'
import { settled } from '../support/settled.ts'

it('runs one task at a time, in order, whatever becomes of them', async () => {
  const queue = new SerialQueue()
  const log: string[] = []
  const task = (name: string, fails = false) => {
    return async () => {
      log.push(`${name} begins`)
      await settled()
      log.push(`${name} ends`)
      if (fails) throw new Error(name)
      return name
    }
  }
  const thrower = (): never => {
    throw new Error('at once')
  }
  const all = Promise.allSettled([
    queue.run(task('a')),
    queue.run(task('b', true)),
    queue.run(thrower),
    queue.run(task('c')),
  ])
  expect(log).toEqual([])
  expect((await all).map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'rejected',
    'fulfilled',
  ])
  expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
})

it('refuses beyond its bound, and takes tasks again once there is room', async () => {
  const queue = new SerialQueue(1)
  let isDone = false
  const first = queue.run(async () => {
    await settled()
    isDone = true
  })
  await expect(queue.run(() => Promise.resolve(2))).rejects.toThrow(QueueFullError)
  await queue.idle()
  expect(isDone).toBe(true)
  await first
  expect(await queue.run(() => Promise.resolve(3))).toBe(3)
})

it('is idle at once where nothing came, and after a failure', async () => {
  const queue = new SerialQueue()
  await queue.idle()
  const failing = queue.run(() => Promise.reject(new Error('broken')))
  await queue.idle()
  await expect(failing).rejects.toThrow('broken')
})
