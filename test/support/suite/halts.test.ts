import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { env } from 'node:process'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from '@jest/globals'
import type { Availability } from '../availability.ts'
import { describeWhenAvailable } from '../when-available.ts'
import { descendantsOf, parseProcessStat, readProcessTable } from './process-table.ts'

const LINUX: Availability =
  process.platform === 'linux'
    ? { available: true }
    : { available: false, why: 'processes are read from /proc, as on Linux' }

describe('the table of processes', () => {
  it('reads a name with parentheses and blanks', () => {
    expect(parseProcessStat('12 (a) b (c)) S 7 12 12 0', 'pid:[1]')).toEqual({
      pid: 12,
      parentPid: 7,
      state: 'S',
      namespace: 'pid:[1]',
    })
  })

  it('finds children, their children, and no other process', () => {
    const table = [
      [2, 1],
      [3, 2],
      [4, 3],
      [5, 1],
      [6, 5],
    ].map(([pid = 0, parentPid = 0]) => ({ pid, parentPid, state: 'S', namespace: '' }))
    expect(descendantsOf(2, table).map(({ pid }) => pid)).toEqual([3, 4])
  })
})

describeWhenAvailable('the table of this machine', LINUX, () => {
  it('holds this process', () => {
    expect(readProcessTable()).toContainEqual(
      expect.objectContaining({ pid: process.pid, parentPid: process.ppid }),
    )
  })
})

describeWhenAvailable('a command that is halted', LINUX, () => {
  // Ends when it has seen its own child stopped, and going on again.
  const UNTIL_STOPPED = `
    const { readFileSync } = require('node:fs')
    const child = require('node:child_process').spawn('sleep', ['60'])
    let wasStopped = false
    setInterval(() => {
      const isStopped = / T /.test(readFileSync('/proc/' + child.pid + '/stat', 'utf8'))
      if (wasStopped && !isStopped) {
        child.kill()
        process.exit(3)
      }
      wasStopped ||= isStopped
    }, 1)`

  it('is stopped, goes on, and its exit code is passed on', async () => {
    const program = join(import.meta.dirname, 'halted-program.ts')
    const child = spawn(process.execPath, [program, process.execPath, '-e', UNTIL_STOPPED], {
      stdio: ['ignore', 'inherit', 'pipe'],
      env: { ...env, HALT_SEED: '1' },
    })
    const [said, [code]] = await Promise.all([
      text(child.stderr),
      once(child, 'close') as Promise<unknown[]>,
    ])
    expect(code).toBe(3)
    expect(said).toMatch(/^halted [1-9]\d* times; HALT_SEED=1$/m)
  })
})
