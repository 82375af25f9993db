import { EventEmitter } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { countProcesses } from '../../../dataplane/process-count.ts'
import { runDrainCommand, writePidFile } from '../../../dataplane/start/drain-command.ts'
import { createShutdown, stopOnSignals, type Shutdown } from '../../../dataplane/start/shutdown.ts'
import { createLog, createSilentLog } from '../../../telemetry/log.ts'
import { settled } from '../../support/settled.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

interface Steps {
  readonly shutdown: Shutdown
  readonly steps: string[]
  /** Lets `close` resolve. */
  readonly idle: () => void
}

const prepare = (seconds: { delay?: number; drain?: number; isIdle?: boolean } = {}): Steps => {
  const steps: string[] = []
  const idle = Promise.withResolvers<undefined>()
  if (seconds.isIdle ?? true) idle.resolve(undefined)
  const shutdown = createShutdown({
    settings: { drainDelaySeconds: seconds.delay ?? 0, drainSeconds: seconds.drain ?? 60 },
    serving: {
      beginDraining: () => steps.push('drain'),
      releaseClients: () => steps.push('release clients'),
      close: () => {
        steps.push('close')
        return idle.promise
      },
      abort: () => {
        steps.push('abort')
        idle.resolve(undefined)
      },
    },
    finish: () => {
      steps.push('finish')
      return Promise.resolve()
    },
    log: createSilentLog(),
  })
  return {
    shutdown,
    steps,
    idle: () => {
      idle.resolve(undefined)
    },
  }
}

describe('createShutdown', () => {
  beforeEach(() => {
    jest.useFakeTimers()
  })
  afterEach(() => {
    jest.useRealTimers()
  })

  const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms)

  it('drains, closes, finishes, once', async () => {
    const { shutdown, steps } = prepare()
    expect(shutdown.isDraining).toBe(false)
    const stopped = Promise.all([shutdown.stop(), shutdown.stop({ skipDelay: true })])
    await pass(0)
    await stopped
    expect(shutdown.isDraining).toBe(true)
    expect(steps).toEqual(['drain', 'close', 'finish'])
  })

  it('serves on during the delay', async () => {
    const { shutdown, steps } = prepare({ delay: 5 })
    const stopped = shutdown.stop()
    await pass(4999)
    expect(steps).toEqual(['drain'])
    await pass(1)
    await stopped
    expect(steps).toEqual(['drain', 'close', 'finish'])
  })

  it('skips the delay on request', async () => {
    const { shutdown, steps } = prepare({ delay: 3600 })
    await shutdown.stop({ skipDelay: true })
    expect(steps).toEqual(['drain', 'close', 'finish'])
  })

  it('releases its clients after the delay of a drain, and goes on serving', async () => {
    const { shutdown, steps } = prepare({ delay: 5 })
    shutdown.drain()
    await pass(4999)
    expect(steps).toEqual(['drain'])
    await pass(1)
    expect(steps).toEqual(['drain', 'release clients'])
    const stopped = shutdown.stop()
    await pass(0)
    await stopped
    expect(steps).toEqual(['drain', 'release clients', 'close', 'finish'])
  })

  it('has nothing to release once it ends', async () => {
    const { shutdown, steps } = prepare({ delay: 5 })
    shutdown.drain()
    await shutdown.stop({ skipDelay: true })
    await pass(5000)
    expect(steps).toEqual(['drain', 'close', 'finish'])
  })

  it('counts the delay from an earlier drain', async () => {
    const { shutdown, steps } = prepare({ delay: 5 })
    shutdown.drain()
    await pass(3000)
    shutdown.drain()
    expect(shutdown.isDraining).toBe(true)
    const stopped = shutdown.stop()
    await pass(1999)
    expect(steps).toEqual(['drain'])
    await pass(1)
    await stopped
    expect(steps).toEqual(['drain', 'close', 'finish'])
  })

  it('breaks off what does not finish in time', async () => {
    const { shutdown, steps } = prepare({ drain: 60, isIdle: false })
    const stopped = shutdown.stop()
    await pass(60_000)
    await stopped
    expect(steps).toEqual(['drain', 'close', 'abort', 'finish'])
  })

  it('waits for requests in flight', async () => {
    const { shutdown, steps, idle } = prepare({ drain: 60, isIdle: false })
    const stopped = shutdown.stop()
    await pass(59_999)
    expect(steps).toEqual(['drain', 'close'])
    idle()
    await stopped
    expect(steps).toEqual(['drain', 'close', 'finish'])
  })

  it('ends also when finishing fails, and says so', async () => {
    const lines: string[] = []
    const shutdown = createShutdown({
      settings: { drainDelaySeconds: 0, drainSeconds: 1 },
      serving: {
        beginDraining: () => undefined,
        releaseClients: () => undefined,
        close: () => Promise.resolve(),
        abort: () => undefined,
      },
      finish: () => Promise.reject(new Error('disk full')),
      log: createLog({
        level: 'info',
        name: 'x',
        destination: { write: (line) => lines.push(line) },
      }),
    })
    await shutdown.stop({ skipDelay: true })
    expect(lines.join('')).toContain('disk full')
  })
})

describe('stopOnSignals', () => {
  const listen = (
    stop: Shutdown['stop'],
  ): { signals: EventEmitter; codes: number[]; drains: string[] } => {
    const signals = new EventEmitter()
    const codes: number[] = []
    const drains: string[] = []
    stopOnSignals(
      { on: (signal, listener) => signals.on(signal, listener) },
      { isDraining: false, drain: () => drains.push('drain'), stop },
      (code) => codes.push(code),
    )
    return { signals, codes, drains }
  }

  it.each([
    ['SIGTERM', false],
    ['SIGINT', true],
  ])('%s ends with 0, delay skipped: %s', async (signal, skipDelay) => {
    const asked: unknown[] = []
    const { signals, codes } = listen((options) => {
      asked.push(options)
      return Promise.resolve()
    })
    signals.emit(signal)
    await settled()
    expect(asked).toEqual([{ skipDelay }])
    expect(codes).toEqual([0])
  })

  it.each([
    ['SIGTERM', 'SIGTERM'],
    ['SIGTERM', 'SIGINT'],
    ['SIGINT', 'SIGTERM'],
  ])('%s, then %s ends at once', (first, second) => {
    const { signals, codes } = listen(() => new Promise(() => undefined))
    signals.emit(first)
    expect(codes).toEqual([])
    signals.emit(second)
    expect(codes).toEqual([1])
  })

  it('ends with 1 when stopping fails', async () => {
    const { signals, codes } = listen(() => Promise.reject(new Error('x')))
    signals.emit('SIGTERM')
    await settled()
    expect(codes).toEqual([1])
  })

  it('SIGUSR2 only drains', () => {
    const { signals, codes, drains } = listen(() => Promise.resolve())
    signals.emit('SIGUSR2')
    expect([drains, codes]).toEqual([['drain'], []])
  })
})

describe('svc-gateway drain', () => {
  const run = async (
    pidFile: string | null,
    commandLine: string | undefined,
    kill?: () => never,
  ): Promise<{ problem: string | undefined; calls: unknown[] }> => {
    const calls: unknown[] = []
    const problem = await runDrainCommand({
      settings: { pidFile, drainDelaySeconds: 5 },
      kill: kill ?? ((...args) => calls.push(args)),
      commandLineOf: () => commandLine,
      sleep: (ms) => {
        calls.push(ms)
        return Promise.resolve()
      },
    })
    return { problem, calls }
  }

  it('signals process 1 of a container and waits out the delay', async () => {
    const { problem, calls } = await run(null, 'node /app/dist/dataplane/main.js --public x')
    expect(problem).toBeUndefined()
    expect(calls).toEqual([[1, 'SIGUSR2'], 5000])
  })

  it.each([['/sbin/init'], [undefined]])('never signals a stranger: %s', async (commandLine) => {
    const { problem, calls } = await run(null, commandLine)
    expect(problem).toContain('process 1 is not a gateway')
    expect(calls).toEqual([])
  })

  it.each<[string, string | undefined, boolean]>([
    ['4711\n', 'svc-gateway', true],
    ['4711', undefined, true],
    ['4711', '/usr/bin/vim', false],
    ['', undefined, false],
    ['-1', undefined, false],
    ['1.5', undefined, false],
  ])('pid file %j of %s: %s', async (content, commandLine, signals) => {
    await using dir = await makeTempDir()
    const file = join(dir.path, 'pid')
    await writeFile(file, content)
    const { problem, calls } = await run(file, commandLine)
    expect(problem === undefined).toBe(signals)
    expect(calls).toEqual(signals ? [[4711, 'SIGUSR2'], 5000] : [])
  })

  it('says when there is no pid file, and when the signal is refused', async () => {
    expect((await run('/nowhere/pid', undefined)).problem).toContain('contains no process id')
    const { problem } = await run(null, 'svc-gateway', () => {
      throw new Error('kill EPERM')
    })
    expect(problem).toBe('process 1 cannot be told to drain: kill EPERM')
  })

  it('reads the command line of a real process', async () => {
    await using dir = await makeTempDir()
    const file = join(dir.path, 'pid')
    await writeFile(file, String(process.pid))
    const problem = await runDrainCommand({ settings: { pidFile: file, drainDelaySeconds: 0 } })
    expect(problem).toContain('is not a gateway')
  })

  it('writePidFile writes, and takes away only its own', async () => {
    await using dir = await makeTempDir()
    const file = join(dir.path, 'pid')
    const remove = writePidFile(file, 12)
    expect(await readFile(file, 'utf8')).toBe('12\n')
    await writeFile(file, '13\n')
    remove()
    expect(await readFile(file, 'utf8')).toBe('13\n')
    writePidFile(file, 13)()
    await expect(readFile(file)).rejects.toThrow('ENOENT')
    expect(() => {
      writePidFile(null)()
    }).not.toThrow()
  })
})

describe('countProcesses', () => {
  const V1 = '/sys/fs/cgroup/cpu/cpu.cfs_'
  it.each<[number | 'auto', Readonly<Record<string, string>>, number]>([
    [3, {}, 3],
    ['auto', {}, 8],
    ['auto', { '/sys/fs/cgroup/cpu.max': 'max 100000\n' }, 8],
    ['auto', { '/sys/fs/cgroup/cpu.max': '400000 100000\n' }, 4],
    ['auto', { '/sys/fs/cgroup/cpu.max': '150000 100000\n' }, 1],
    ['auto', { '/sys/fs/cgroup/cpu.max': '50000 100000\n' }, 1],
    ['auto', { '/sys/fs/cgroup/cpu.max': '9900000 100000\n' }, 8],
    ['auto', { '/sys/fs/cgroup/cpu.max': 'nonsense' }, 8],
    ['auto', { [`${V1}quota_us`]: '200000', [`${V1}period_us`]: '100000' }, 2],
    ['auto', { [`${V1}quota_us`]: '-1', [`${V1}period_us`]: '100000' }, 8],
  ])('%s with %j is %d', (setting, files, count) => {
    expect(countProcesses(setting, 8, (path) => files[path])).toBe(count)
  })

  it('reads this machine', () => {
    expect(countProcesses('auto')).toBeGreaterThanOrEqual(1)
  })
})
