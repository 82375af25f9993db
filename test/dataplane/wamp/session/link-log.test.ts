import { describe, expect, it } from '@jest/globals'
import { createLinkLog } from '../../../../dataplane/wamp/session/link-log.ts'
import { createSilentLog } from '../../../../telemetry/log.ts'
import { createManualClock } from '../../../support/manual-clock.ts'

const start = () => {
  const lines: string[] = []
  const clock = createManualClock()
  const log = createLinkLog(
    {
      ...createSilentLog(),
      info: (message) => lines.push(message),
      warn: (message, fields) => lines.push(`${message}: ${String(fields?.['reason'])}`),
    },
    () => clock.now(),
  )
  const fail = (reason: string, isRejection = false, url = 'ws://a/') => {
    log.failed({ url, isRejection, reason })
  }
  return {
    lines,
    fail,
    join: () => {
      log.joined({})
    },
    clock,
  }
}

describe('createLinkLog', () => {
  it('tells each change of reason once, and the same again after a minute', () => {
    const { lines, fail, clock } = start()
    fail('x')
    fail('x')
    fail('y', true)
    clock.advance(59_999)
    fail('y', true)
    clock.advance(1)
    fail('y', true)
    expect(lines).toEqual([
      'no session with a WAMP router: x',
      'a WAMP router refuses us: y',
      'a WAMP router refuses us: y',
    ])
  })

  it('knows addresses apart', () => {
    const { lines, fail } = start()
    for (let round = 0; round < 3; round++) {
      fail('x', false, 'ws://a/')
      fail('y', false, 'ws://b/')
    }
    expect(lines).toHaveLength(2)
  })

  it('a router that comes and goes writes two lines a minute', () => {
    const { lines, fail, join, clock } = start()
    join()
    for (let second = 0; second < 60; second++) {
      fail('lost')
      join()
      clock.advance(1000)
    }
    expect(lines).toEqual([
      'joined a WAMP router',
      'no session with a WAMP router: lost',
      'joined a WAMP router',
    ])
  })
})
