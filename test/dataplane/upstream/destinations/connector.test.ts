// A connector whose first address drops every attempt to connect: the second one is tried soon.

import { expect, it } from '@jest/globals'
import { createConnector } from '../../../../dataplane/upstream/destinations/connector.ts'
import { createGuard } from '../../../../dataplane/upstream/destinations/guard.ts'
import { startBlackHole } from '../../../support/balance/instance.ts'
import { eventually } from '../../../support/eventually.ts'
import { freePort } from '../../../support/free-port.ts'

it('goes on to another address after 250 ms', async () => {
  const port = await freePort(['127.0.0.2'])
  await using own = new AsyncDisposableStack()
  own.use(await startBlackHole({ address: '127.0.0.2', port }))
  const order: string[] = []
  const socket = createConnector({ guard: createGuard() })(
    { hostname: 'up.test', protocol: 'http:', port: String(port) },
    () => undefined,
    {
      lookup: (_name, _options, callback) => {
        callback(
          null,
          ['127.0.0.2', '127.0.0.1'].map((address) => ({ address, family: 4 })),
        )
        // Timers end in their order, however late: no time is measured.
        for (const ms of [240, 260]) setTimeout(() => order.push(`${ms} ms`), ms)
      },
    },
  )
  socket?.on('connectionAttemptTimeout', () => order.push('next'))
  await eventually(() => {
    expect(order).toContain('260 ms')
  })
  socket?.destroy()
  expect(order).toEqual(['240 ms', 'next', '260 ms'])
})
