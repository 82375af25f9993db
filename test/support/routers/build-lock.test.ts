// Two workers never build at once, and a worker that died delays no other.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from '@jest/globals'
import { makeTempDir } from '../temp-dir.ts'
import { whileLocked } from './build-lock.ts'

it('one after the other', async () => {
  await using dir = await makeTempDir()
  const path = join(dir.path, 'deeper', 'x.lock')
  const seen: string[] = []
  const work = (name: string) => async () => {
    seen.push(`${name} begins`)
    await sleep(20)
    seen.push(`${name} ends`)
  }
  await Promise.all([whileLocked(path, work('a')), whileLocked(path, work('b'))])
  expect(seen).toHaveLength(4)
  expect(seen.map((line) => line.split(' ')[1])).toEqual(['begins', 'ends', 'begins', 'ends'])
})

it('is released when the work fails', async () => {
  await using dir = await makeTempDir()
  const path = join(dir.path, 'x.lock')
  const failing = whileLocked(path, () => Promise.reject(new Error('no compiler')))
  await expect(failing).rejects.toThrow('no compiler')
  await expect(readFile(path)).rejects.toThrow('ENOENT')
})

it('is taken over from a process that is no more', async () => {
  await using dir = await makeTempDir()
  const path = join(dir.path, 'x.lock')
  // No process has a number this high.
  await writeFile(path, '2147483646')
  let isDone = false
  await whileLocked(path, async () => {
    isDone = (await readFile(path, 'utf8')) === String(process.pid)
  })
  expect(isDone).toBe(true)
})
