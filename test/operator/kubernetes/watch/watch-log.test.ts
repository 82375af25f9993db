import { describe, expect, it } from '@jest/globals'
import { WatchLog } from '../../../../operator/kubernetes/watch/watch-log.ts'
import { createSilentLog } from '../../../../telemetry/log.ts'
import { createManualClock } from '../../../support/manual-clock.ts'

const AWAY = { status: 0, message: 'connect ECONNREFUSED 127.0.0.1:6443' }

const aWatchLog = () => {
  const clock = createManualClock()
  const lines: string[] = []
  const take =
    (level: string) =>
    (message: string, fields?: object): void =>
      void lines.push(`${level} ${message} ${JSON.stringify(fields)}`)
  const log = { ...createSilentLog(), warn: take('warn'), info: take('info') }
  const secrets = Array.from({ length: 300 }, () => ({}))
  return { clock, lines, secrets, watchLog: new WatchLog({ clock, log }) }
}

describe('watches that fail', () => {
  it('are reported in one line, and in one when they follow again', () => {
    const { clock, lines, secrets, watchLog } = aWatchLog()
    const pods = {}
    watchLog.failed(pods, { resource: 'pods', ...AWAY })
    for (const each of secrets) watchLog.failed(each, { resource: 'secrets', ...AWAY })
    clock.advance(5_000)
    expect(lines.splice(0)).toEqual([
      `warn watches fail, so data may be out of date ${JSON.stringify({
        watches: 301,
        resources: '300 secrets, 1 pods',
        status: 0,
        reason: AWAY.message,
      })}`,
    ])
    // Tried again, again in vain: nothing new.
    for (const each of secrets) watchLog.failed(each, { resource: 'secrets', ...AWAY })
    clock.advance(10_000)
    expect(lines).toEqual([])
    for (const each of [...secrets, pods]) watchLog.followed(each)
    clock.advance(10_000)
    expect(lines).toEqual(['info watches work again {"watches":301,"left":0}'])
    expect(clock.pending).toBe(0)
  })

  it('are named where there is one', () => {
    const { clock, lines, watchLog } = aWatchLog()
    watchLog.failed({}, { resource: 'secrets', namespace: 'shop', status: 403, message: 'no' })
    clock.advance(5_000)
    expect(lines).toEqual([
      'warn watches fail, so data may be out of date {"resource":"secrets","namespace":"shop","status":403,"reason":"no"}',
    ])
  })

  it('for a moment only are not reported', () => {
    const { clock, lines, secrets, watchLog } = aWatchLog()
    for (const each of secrets) watchLog.failed(each, { resource: 'secrets', ...AWAY })
    clock.advance(4_000)
    for (const each of secrets) watchLog.followed(each)
    clock.advance(20_000)
    expect(lines).toEqual([])
  })

  it('in several ways have a line for each, at most every ten seconds', () => {
    const { clock, lines, secrets, watchLog } = aWatchLog()
    for (let round = 0; round < 60; round += 1) {
      const status = [0, 429, 503][round % 3] ?? 0
      for (const each of secrets)
        watchLog.failed(each, { resource: 'secrets', status, message: '' })
      clock.advance(1_000)
    }
    expect(lines.length).toBeLessThanOrEqual(7)
  })

  it('and are stopped are forgotten, with what was to be logged of them', () => {
    const { clock, lines, secrets, watchLog } = aWatchLog()
    for (const each of secrets) watchLog.failed(each, { resource: 'secrets', ...AWAY })
    for (const each of secrets) watchLog.forget(each)
    expect(clock.pending).toBe(0)
    expect(lines).toEqual([])
  })
})
