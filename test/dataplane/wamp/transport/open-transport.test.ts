import { describe, expect, it } from '@jest/globals'
import { openProbe } from './transport-probe.ts'

describe('openTransport', () => {
  it.each([
    ['http://me:secret@router.test', 'its URL is of no use: its scheme'],
    ['secret', 'no URL'],
    ['ws://h/#secret', 'fragment'],
    ['rs://me:secret@h:1', 'user info'],
  ])('%s is unreachable, reported later and once', async (url, why) => {
    const probe = openProbe(url)
    expect(probe.ends).toEqual([])
    probe.transport.send([1])
    expect(probe.transport.bufferedBytes).toBe(0)
    probe.transport.close()
    const end = await probe.untilEnd()
    expect(end).toEqual({ kind: 'unreachable', reason: expect.stringContaining(why) })
    expect(end.reason).not.toContain('secret')
    probe.transport.close()
    expect(probe.ends).toHaveLength(1)
  })

  it.each(['ws://127.0.0.1:1', 'rs://127.0.0.1:1'])('%s without serializers', async (url) => {
    expect(await openProbe(url, { serializers: [] }).untilEnd()).toEqual({
      kind: 'unreachable',
      reason: 'there is no serializer',
    })
  })
})
