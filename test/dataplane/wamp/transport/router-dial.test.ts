import { describe, expect, it } from '@jest/globals'
import type { Resolve } from '../../../../dataplane/name-lookup.ts'
import { createRouterDial } from '../../../../dataplane/wamp/transport/router-dial.ts'
import { connectRouter } from '../../../../dataplane/wamp/relay/router-connection.ts'
import { createTransportOpener } from '../../../../dataplane/wamp/transport/open-transport.ts'
import { createCertificateAuthority } from '../../../support/certificates.ts'
import { openProbe } from './transport-probe.ts'

describe('createRouterDial', () => {
  it.each([[[]], [[createCertificateAuthority('router CA').cert]]])(
    'all connections have one TLS context',
    (extraCa) => {
      const { secureContext } = createRouterDial(extraCa)
      expect(secureContext()).toBe(secureContext())
    },
  )
})

describe('a router that may not be dialled', () => {
  const names: Resolve = (_name, _options, callback) => {
    process.nextTick(callback, null, [{ address: '10.96.0.1', family: 4 }])
  }
  const guard = (_host: string, address: string, port: number): boolean =>
    address !== '10.96.0.1' && port !== 18081
  const dial = createRouterDial([], { names, guard })

  it.each([
    'ws://10.96.0.1/ws',
    'wss://10.96.0.1/ws',
    'ws://router.test/ws',
    'ws://[::1]:18081/ws',
    'rs://10.96.0.1:9000',
    'rss://10.96.0.1:9000',
    'rs://router.test:9000',
    'rs://[::1]:18081',
  ])('%s is out of reach, and reported so', async (url) => {
    const end = await openProbe(url, { open: createTransportOpener({ dial }) }).untilEnd()
    expect(end).toMatchObject({ reason: expect.stringContaining('may not be dialled') })
  })

  it.each(['ws://10.96.0.1/ws', 'wss://router.test/ws'])(
    'nor are clients carried to %s',
    async (url) => {
      const connecting = connectRouter(
        [url],
        { key: 'dGhlIHNhbXBsZSBub25jZQ==', protocols: ['wamp.2.json'] },
        { dial, connectTimeoutMs: 5000, responseTimeoutMs: 5000, totalMs: 5000, now: () => 0 },
        new AbortController().signal,
      )
      await expect(connecting).rejects.toMatchObject({
        reasons: [expect.stringContaining('may not be dialled')],
      })
    },
  )
})
