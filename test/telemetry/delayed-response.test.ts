import { describe, expect, it } from '@jest/globals'
import { untilAnswerable } from '../../telemetry/delayed-response.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { settled } from '../support/settled.ts'

describe('the response to a probe', () => {
  it.each([
    { url: '/ready', title: 'without a time', heldMs: 0 },
    { url: '/ready?wait=', title: 'with an empty one', heldMs: 0 },
    { url: '/ready?wait=-1', title: 'with a negative one', heldMs: 0 },
    { url: '/ready?wait=1e3', title: 'with one that is no number', heldMs: 0 },
    { url: '/ready?wait=4', title: 'with a time', heldMs: 4_000 },
    { url: '/ready?x=1&wait=4', title: 'with more than a time', heldMs: 4_000 },
    { url: '/ready?wait=999', title: 'with a long one', heldMs: 60_000 },
    { url: '/ready?wait=4', title: 'that comes sooner', pendingMs: 500, heldMs: 500 },
    { url: '/ready?wait=4', title: 'that was there before', pendingMs: 0, heldMs: 0 },
    { url: '/ready?wait=4', title: 'that no client waits for', goneMs: 200, heldMs: 200 },
  ])('$title is held for $heldMs ms', async ({ url, heldMs, pendingMs = 1e9, goneMs = 1e9 }) => {
    const clock = createManualClock()
    const startMs = clock.now()
    const sinceMs = (): number => clock.now() - startMs
    let answeredMs: number | undefined
    void untilAnswerable({
      url,
      isPending: () => sinceMs() < pendingMs,
      isGone: () => sinceMs() >= goneMs,
      after: (ms, callback) => clock.after(ms, callback),
    }).then(() => (answeredMs = sinceMs()))
    await settled()
    while (clock.nextInMs !== undefined) await clock.run(clock.nextInMs)
    expect(answeredMs).toBe(heldMs)
  })
})
