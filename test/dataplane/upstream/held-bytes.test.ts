// What has arrived of a response whose client pauses is charged to the memory of the process, as many slow clients and an
// upstream of small chunks could hold much of it.

import { expect, it } from '@jest/globals'
import { MemoryBudget } from '../../../dataplane/memory/memory-budget.ts'
import { createGuard } from '../../../dataplane/upstream/destinations/guard.ts'
import { createUpstream } from '../../../dataplane/upstream/pooled-upstream.ts'
import { stopTimers } from '../stop-timers.ts'
import { ask, listenRaw, until } from './servers.ts'

stopTimers()

const CHUNKS = 2000
const BODY = `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(CHUNKS)}0\r\n\r\n`

it.each(['goes on', 'is aborted'] as const)(
  'bytes behind a pause are charged until the request %s',
  async (ending) => {
    const server = await listenRaw((socket) => socket.write(BODY))
    const memory = new MemoryBudget({ size: 10_000_000 })
    const upstream = createUpstream({ guard: createGuard(), memory })
    let isPaused = false
    let bytes = 0
    const asking = ask(upstream, {
      origin: server.origin,
      sink: {
        onData: (chunk) => {
          bytes += chunk.length
          isPaused = true
          return bytes > 1
        },
      },
    })
    await until(() => isPaused, 'it is paused')
    expect(memory.held).toBeGreaterThan(5 * CHUNKS)
    if (ending === 'goes on') asking.call.resume()
    else asking.call.abort()
    await asking.done
    expect(bytes).toBe(ending === 'goes on' ? CHUNKS : 1)
    expect(memory.held).toBe(0)
    await server.close()
    await upstream.close()
  },
)
