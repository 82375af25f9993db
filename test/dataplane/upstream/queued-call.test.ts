import { describe, expect, it } from '@jest/globals'
import { createPoolScope, type PoolScope } from '../../../dataplane/upstream/limiter.ts'
import { type Dispatch, QueuedCall } from '../../../dataplane/upstream/queued-call.ts'
import type { UpstreamRequest } from '../../../dataplane/upstream/upstream.ts'
import { stopTimers } from '../stop-timers.ts'

stopTimers()

const ORIGIN = 'http://a'

/** Who waits in a pool of one, and what each of them hears. */
const waitingLine = (scope: PoolScope = createPoolScope(1, 2)) => {
  const limiter = scope.limiterOf(ORIGIN)
  limiter.tryAcquire(undefined)
  const heard: string[] = []
  const enqueue = (name: string): QueuedCall => {
    const request: UpstreamRequest = {
      origin: ORIGIN,
      method: 'GET',
      path: `/${name}`,
      headers: [],
      body: null,
      connectTimeoutMs: 1000,
      timeoutMs: 1000,
    }
    const sink = {
      onHead: () => undefined,
      onData: () => true,
      onEnd: () => undefined,
      onError: ({ code }: { readonly code: string }) => heard.push(`${name} ${code}`),
    }
    const dispatch: Dispatch = (sent) => {
      heard.push(`${name} sent ${sent.path}`)
      return {
        abort: () => heard.push(`${name} aborted`),
        resume: () => heard.push(`${name} resumed`),
      }
    }
    return new QueuedCall(request, sink, limiter, dispatch).enqueue()
  }
  return { limiter, heard, enqueue }
}

describe('a request that waits for a slot', () => {
  it('is dispatched when there is one, and is then the call that was dispatched', () => {
    const { limiter, heard, enqueue } = waitingLine()
    const call = enqueue('x')
    call.resume()
    expect(heard).toEqual([])
    limiter.release(undefined)
    call.resume()
    call.abort()
    expect(heard).toEqual(['x sent /x', 'x resumed', 'x aborted'])
  })

  it('is given up once, and takes no slot any more', () => {
    const { limiter, heard, enqueue } = waitingLine()
    const call = enqueue('x')
    call.abort()
    call.abort()
    limiter.release(undefined)
    expect(heard).toEqual(['x aborted'])
    expect(limiter.tryAcquire(undefined)).toBe(true)
  })

  it('is refused where too many wait, after its sender has its call', async () => {
    const { heard, enqueue } = waitingLine(createPoolScope(1, 0))
    const call = enqueue('x')
    expect(heard).toEqual([])
    await Promise.resolve()
    call.abort()
    expect(heard).toEqual(['x overloaded'])
  })
})
