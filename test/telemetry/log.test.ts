import { describe, expect, it } from '@jest/globals'
import { createLog, createSilentLog, type Log, type LogLevel } from '../../telemetry/log.ts'

const record = (level: LogLevel): { log: Log; lines: () => Record<string, unknown>[] } => {
  const written: string[] = []
  const log = createLog({
    level,
    name: 'test',
    destination: { write: (line) => written.push(line) },
  })
  return { log, lines: () => written.map((line) => JSON.parse(line) as Record<string, unknown>) }
}

describe('createLog', () => {
  it('writes a JSON line with level, time, name, fields and message', () => {
    const { log, lines } = record('info')
    log.info('document loaded', { id: 'orders' })
    expect(lines()).toEqual([
      {
        level: 'info',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        name: 'test',
        id: 'orders',
        msg: 'document loaded',
      },
    ])
  })

  it.each<[LogLevel, readonly string[]]>([
    ['debug', ['debug', 'info', 'warn', 'error']],
    ['info', ['info', 'warn', 'error']],
    ['warn', ['warn', 'error']],
    ['error', ['error']],
    ['silent', []],
  ])('%s lets through %j', (level, through) => {
    const { log, lines } = record(level)
    for (const name of ['debug', 'info', 'warn', 'error'] as const) log[name]('x')
    expect(lines().map((line) => line['level'])).toEqual(through)
  })

  it('gives a child its fields, with secrets masked there too', () => {
    const { log, lines } = record('info')
    log.child({ requestId: 'r1', token: 'abc' }).warn('slow', { ms: 5 })
    expect(lines()[0]).toMatchObject({ requestId: 'r1', token: '[redacted]', ms: 5 })
  })

  it.each<[LogLevel, 'info' | 'error', boolean]>([
    ['info', 'info', false],
    ['info', 'error', true],
    ['debug', 'info', true],
  ])('at level %s, an error on an %s line has a stack: %s', (level, method, hasStack) => {
    const { log, lines } = record(level)
    log[method]('failed', { error: new TypeError('no', { cause: new Error('because') }) })
    const error = lines()[0]?.['error'] as Record<string, unknown>
    expect(error).toMatchObject({ type: 'TypeError', message: 'no', cause: { message: 'because' } })
    expect('stack' in error).toBe(hasStack)
  })

  it('createSilentLog takes everything and says nothing', () => {
    const log = createSilentLog().child({ a: 1 })
    for (const name of ['debug', 'info', 'warn', 'error'] as const) {
      expect(() => {
        log[name]('x', { a: 1 })
      }).not.toThrow()
    }
  })
})
