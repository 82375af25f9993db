// How slowly a client may read: a kernel that takes bytes as each row says, and a clock that counts looks.

import { describe, expect, it } from '@jest/globals'
import { ClientProgress, type ProgressLimits } from '../../../dataplane/listen/client-progress.ts'

const LOOK_MS = 5000
const KB = 1024
const MINUTE_MS = 60_000

const LIMITS: ProgressLimits = { stallMs: MINUTE_MS, idleMs: 71_000, isScarce: () => false }
const SCARCE: ProgressLimits = { ...LIMITS, isScarce: () => true }

/** As much as the code reads of a socket. */
interface Connection {
  writableLength: number
  bytesWritten: number
  readonly _handle: { writeQueueSize: number }
  _httpMessage: object | null
  parser: object | undefined
}

const open = (): Connection => ({
  writableLength: 0,
  bytesWritten: 0,
  _handle: { writeQueueSize: 0 },
  _httpMessage: {},
  parser: {},
})

const write = (connection: Connection, bytes: number): void => {
  connection.writableLength += bytes
  connection.bytesWritten += bytes
  connection._handle.writeQueueSize += bytes
}

/** One write: it is over when the last of its bytes is gone. */
const takeFrom = (connection: Connection, bytes: number): void => {
  const { _handle: handle } = connection
  handle.writeQueueSize = Math.max(0, handle.writeQueueSize - bytes)
  if (handle.writeQueueSize === 0) connection.writableLength = 0
}

interface Reader {
  readonly writes: number
  /** Bytes that go out before each look. */
  readonly takes: (atMs: number) => number
  readonly limits: ProgressLimits
}

/** `done`, or when it is cut off, in minutes. */
const outcomeOf = ({ writes, takes, limits }: Reader): string => {
  const connection = open()
  const progress = new ClientProgress(0)
  write(connection, writes)
  for (let nowMs = LOOK_MS; nowMs <= 600 * MINUTE_MS; nowMs += LOOK_MS) {
    if (progress.isTooSlow(connection, nowMs, limits))
      return `cut off after ${Math.floor(nowMs / MINUTE_MS)} min`
    takeFrom(connection, takes(nowMs))
    if (connection.writableLength === 0) return 'done'
  }
  return 'endless'
}

const at = (bytesPerSecond: number) => () => (bytesPerSecond * LOOK_MS) / 1000

/** So many bytes each time that so much time has passed. */
const inBursts = (bytes: number, everyMs: number) => (atMs: number) =>
  atMs % everyMs === 0 ? bytes : 0

describe('what is written to a client', () => {
  it.each<[string, Reader, string]>([
    ['1 MiB at 1 KB/s', { writes: KB * KB, takes: at(KB), limits: LIMITS }, 'done'],
    ['1 MiB at 1 KB/s, short', { writes: KB * KB, takes: at(KB), limits: SCARCE }, 'done'],
    ['a halt of 30 s', { writes: KB, takes: inBursts(KB, 30_000), limits: LIMITS }, 'done'],
    ['a halt of 30 s, short', { writes: KB, takes: inBursts(KB, 30_000), limits: SCARCE }, 'done'],
    ['in bursts', { writes: KB * KB, takes: inBursts(30_000, 45_000), limits: SCARCE }, 'done'],
    ['nothing', { writes: KB, takes: () => 0, limits: LIMITS }, 'cut off after 1 min'],
    ['nothing, short', { writes: KB, takes: () => 0, limits: SCARCE }, 'cut off after 0 min'],
    ['100 bytes per second', { writes: KB * KB, takes: at(100), limits: LIMITS }, 'done'],
    ['that, short', { writes: KB * KB, takes: at(100), limits: SCARCE }, 'cut off after 73 min'],
    ['a byte now and then', { writes: KB, takes: inBursts(1, 30_000), limits: LIMITS }, 'done'],
  ])('%s', (_, reader, expected) => {
    expect(outcomeOf(reader)).toBe(expected)
  })

  it('each write has its own time, for hours', () => {
    const connection = open()
    const progress = new ClientProgress(0)
    for (let nowMs = LOOK_MS; nowMs < 300 * MINUTE_MS; nowMs += LOOK_MS) {
      if (connection.writableLength === 0) write(connection, 64 * KB)
      takeFrom(connection, 300 * 5)
      expect(progress.isTooSlow(connection, nowMs, SCARCE)).toBe(false)
    }
  })
})

describe('a client that nothing waits for', () => {
  it.each<[string, Partial<Connection>, boolean]>([
    ['waits for its response, or for an event', {}, false],
    ['is no HTTP any more', { _httpMessage: null, parser: undefined }, false],
    ['is between two requests', { _httpMessage: null }, true],
  ])('%s', (_, state, isCutOff) => {
    const connection = { ...open(), ...state }
    const progress = new ClientProgress(0)
    const looks: boolean[] = []
    for (let nowMs = LOOK_MS; nowMs <= 80_000; nowMs += LOOK_MS)
      looks.push(progress.isTooSlow(connection, nowMs, SCARCE))
    expect([looks.slice(0, 14).includes(true), looks.at(-1)]).toEqual([false, isCutOff])
  })
})
