import { describe, expect, it } from '@jest/globals'
import {
  createAccessLog,
  parseAccessLogShare,
  type AccessEntry,
} from '../../telemetry/access-log.ts'
import { eventually } from '../support/eventually.ts'

const ENTRY: AccessEntry = {
  time: 0,
  id: 'r1',
  peername: '10.0.0.1:5',
  method: 'GET',
  host: 'a.example',
  target: '/v1/x?token=secret',
  status: 200,
  seconds: 0.0012345,
  bytes: 12,
  api: 'orders',
  version: 'v1',
}

describe('createAccessLog', () => {
  it('writes one line per request, without any part of the query', () => {
    const lines: string[] = []
    const log = createAccessLog({ share: 1, sink: (text) => lines.push(text) })
    log?.write(ENTRY)
    log?.flush()
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      {
        time: '1970-01-01T00:00:00.000Z',
        id: 'r1',
        peername: '10.0.0.1:5',
        method: 'GET',
        host: 'a.example',
        path: '/v1/x',
        status: 200,
        ms: 1.23,
        bytes: 12,
        api: 'orders',
        version: 'v1',
      },
    ])
    expect(lines[0]?.endsWith('}\n')).toBe(true)
  })

  it('says why a request failed', () => {
    const lines: string[] = []
    const log = createAccessLog({ share: 1, sink: (text) => lines.push(text) })
    const failure = {
      code: 'svc.error.bad_gateway',
      reason: 'dns',
      claim: 'aud',
      expected: 'a"b',
      upstream: 'http://o"',
    }
    log?.write({ ...ENTRY, status: 504, ...failure, trace: 't' })
    log?.flush()
    expect(JSON.parse(lines.join(''))).toMatchObject({ ...failure, trace: 't' })
  })

  it.each([
    ['/a?b?c', '/a'],
    ['?x', ''],
    ['http://user:pass@host/p?q', '/p'],
    ['HTTP://user:pass@host/p', '/p'],
    ['h2c+x-1.0://user:pass@host/p', '/p'],
    ['1http://user:pass@host/p', '/p'],
    ['://user:pass@host/p', '/p'],
    ['ws://user:pass@host', ''],
    ['user:pass@host:443', 'host:443'],
    ['x:user:pass@host/p@q', 'host/p@q'],
    ['host:443', 'host:443'],
    ['/p/http://a@b/c', '/p/http://a@b/c'],
    ['*', '*'],
    ['/"\n\u0000', '/"\n\u0000'],
    [`/${'x'.repeat(5000)}`, `/${'x'.repeat(2047)}…`],
  ])('path of %j', (target, path) => {
    let text = ''
    const log = createAccessLog({ share: 1, sink: (lines) => (text += lines) })
    log?.write({ ...ENTRY, target, host: '"\\' })
    log?.flush()
    expect(JSON.parse(text)).toMatchObject({ path, host: '"\\' })
    expect(text.split('\n')).toHaveLength(2)
  })

  it('keeps its share, and every 5xx', () => {
    let text = ''
    const draws = [0.05, 0.2, 0.09, 0.1]
    const log = createAccessLog({
      share: 0.1,
      sink: (lines) => (text += lines),
      random: () => draws.shift() ?? 1,
    })
    for (let i = 0; i < 4; i++) log?.write({ ...ENTRY, id: `r${i}` })
    log?.write({ ...ENTRY, id: 'failed', status: 502 })
    log?.flush()
    expect(text.match(/"id":"\w+"/g)).toEqual(['"id":"r0"', '"id":"r2"', '"id":"failed"'])
  })

  it('writes whole lines in portions that a pipe takes as one', () => {
    const portions: string[] = []
    const log = createAccessLog({ share: 1, sink: (text) => portions.push(text) })
    for (let i = 0; i < 100; i++) log?.write(ENTRY)
    log?.flush()
    expect(portions.length).toBeGreaterThan(1)
    for (const portion of portions) {
      expect(portion.length).toBeLessThanOrEqual(4096)
      expect(portion.endsWith('\n')).toBe(true)
    }
    expect(portions.join('').split('\n')).toHaveLength(101)
  })

  it('flushes by itself after a while', async () => {
    const portions: string[] = []
    createAccessLog({ share: 1, sink: (text) => portions.push(text), flushAfterMs: 1 })?.write(
      ENTRY,
    )
    await eventually(() => {
      expect(portions).toHaveLength(1)
    })
  })

  it('is nothing at all when off', () => {
    expect(createAccessLog({ share: 0, sink: () => undefined })).toBeUndefined()
  })
})

describe('parseAccessLogShare', () => {
  it.each([
    ['off', 0],
    ['on', 1],
    ['0', 0],
    ['1', 1],
    ['0.01', 0.01],
    ['1.0', 1],
    ['1.5', undefined],
    ['-1', undefined],
    ['yes', undefined],
    ['', undefined],
  ])('%j is %s', (text, share) => {
    expect(parseAccessLogShare(text)).toBe(share)
  })
})
