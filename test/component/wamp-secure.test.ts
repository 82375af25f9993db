// Routers reached by TLS and by unix socket, over each serializer: whom the gateway trusts, what it says of those
// whom it does not, and that it is back after a router was.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import type { SerializerName } from '../../dataplane/wamp/protocol/messages.ts'
import { createCertificateAuthority } from '../support/certificates.ts'
import { eventually, type Patience } from '../support/eventually.ts'
import { startGateway, type GatewayProcess } from '../support/gateway-process.ts'
import { request } from '../support/http-request.ts'
import { openRawPeer } from '../support/raw-wamp-peer.ts'
import { buildRouter } from '../support/routers/build-router.ts'
import { onlyInTestAll } from '../support/availability.ts'
import { routerAvailability } from '../support/routers/recipe.ts'
import { START_MS } from '../support/routers/router-under-test.ts'
import { startRouter, type RealRouter } from '../support/routers/start-router.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { register } from '../support/wamp-peer.ts'
import { describeWhenAvailable } from '../support/when-available.ts'
import { post } from './gateway-client.ts'
import { calls } from './wamp/wamp-operations.ts'

type Way = 'wss' | 'rss' | 'unix'

const WAYS: readonly { readonly way: Way; readonly serializer: SerializerName }[] = [
  { way: 'wss', serializer: 'msgpack' },
  { way: 'rss', serializer: 'cbor' },
  { way: 'unix', serializer: 'json' },
]
const realmOf = (name: string): string => `com.example.by.${name}`
/** Of two seconds, 10 ms apart: what holds up the gateway holds them up too. */
const BACK_LOOKS = 200

const routers = (['nexus', 'crossbar'] as const).map((name) => ({
  name,
  availability: onlyInTestAll(name, routerAvailability(name)),
}))
const authority = createCertificateAuthority('router CA')
const own = new AsyncDisposableStack()
/** Trusts the routers' CA. */
let gateway: GatewayProcess
let stranger: GatewayProcess

beforeAll(async () => {
  if (routers.every(({ availability }) => !availability.available)) return
  const directory = own.use(await makeTempDir())
  const caPath = join(directory.path, 'ca.crt')
  await writeFile(caPath, authority.cert)
  const trusting = startGateway({ flags: ['--upstream-ca', caPath] })
  stranger = own.use(await startGateway())
  gateway = own.use(await trusting)
}, START_MS)

afterAll(() => own.disposeAsync(), START_MS)

for (const { name, availability } of routers) {
  if (availability.available) await buildRouter(name)
  describeWhenAvailable(name, availability, () => {
    let router: RealRouter

    beforeAll(async () => {
      const certificate = authority.issue('router.test')
      const realms = WAYS.map(({ way }) => realmOf(keyOf(way)))
      router = own.use(await startRouter(name, { certificate, realms }))
      for (const { way, serializer } of WAYS) {
        await serve(gateway, keyOf(way), { url: urlOf(way), serializers: [serializer] })
        await serve(stranger, keyOf(way), { url: urlOf(way) })
      }
    }, START_MS)

    /** Of realms and documents that the other router has no part in. */
    const keyOf = (way: string): string => `${name}_${way}`
    const urlOf = (way: Way): string => router.secure?.[way] ?? ''

    const startCallee = async (realm: string): Promise<void> => {
      const peer = own.use(await openRawPeer({ url: router.rawsocket, realm }))
      await register(peer, 'com.example.echo', ({ args }) => ({ args }))
    }

    it.each(WAYS)('$way with $serializer carries calls, large ones too', async ({ way }) => {
      await startCallee(realmOf(keyOf(way)))
      const args = ['é', 'x'.repeat(1 << 20)]
      await untilState(gateway, keyOf(way), 'open')
      expect(await echo(gateway, keyOf(way), args)).toEqual({ status: 200, body: args })
    })

    it.each(['wss', 'rss'] as const)(
      '%s: a CA that is not known is no router, and said',
      async (way) => {
        const reason = await untilState(stranger, keyOf(way), 'waiting')
        expect(reason).toContain('certificate')
        const { status, body } = await echo(stranger, keyOf(way), [])
        expect({ status, body }).toMatchObject({
          status: 502,
          body: {
            code: 'wamp.error.net_failure',
            message: expect.not.stringContaining('127.0.0.1'),
          },
        })
      },
    )

    it.each(['wss', 'rss'] as const)(
      '%s: a certificate of another name is refused',
      async (way) => {
        const url = urlOf(way).replace('127.0.0.1', 'localhost')
        await serve(gateway, keyOf(`${way}_misnamed`), { url })
        const reason = await untilState(gateway, keyOf(`${way}_misnamed`), 'waiting')
        expect(reason).toContain("does not match certificate's altnames")
      },
    )

    it('all are back within two seconds of the router', async () => {
      await router.stop()
      for (const { way } of WAYS) await untilState(gateway, keyOf(way), 'waiting')
      await router.restart()
      const inTime = { looks: BACK_LOOKS }
      await Promise.all(WAYS.map(({ way }) => untilState(gateway, keyOf(way), 'open', inTime)))
      for (const { way } of WAYS) {
        await startCallee(realmOf(keyOf(way)))
        expect(await echo(gateway, keyOf(way), ['back'])).toEqual({ status: 200, body: ['back'] })
      }
    })
  })
}

const serve = async (gateway: GatewayProcess, name: string, router: object): Promise<void> => {
  await post(gateway, '/realms', { uri: realmOf(name), router })
  const paths = { '/echo': { post: calls('com.example.echo') } }
  const { status, text } = await post(gateway, '/api_specs', {
    id: name,
    host: '_',
    realm_uri: realmOf(name),
    versions: { v1: { base_path: `/${name}`, paths } },
  })
  expect({ status, text }).toEqual({ status: 204, text: '' })
}

/** Its reason. */
const untilState = (
  gateway: GatewayProcess,
  name: string,
  state: string,
  patience: Patience = { withinMs: 15_000 },
): Promise<string> =>
  eventually(
    async () => {
      const response = await request(`${gateway.management}/realms/${realmOf(name)}`)
      const { sessions } = response.json() as {
        readonly sessions: readonly { readonly state: string; readonly reason?: string }[]
      }
      expect(sessions).toMatchObject([{ state }])
      return sessions[0]?.reason ?? ''
    },
    { everyMs: 10, ...patience },
  )

const echo = async (
  gateway: GatewayProcess,
  name: string,
  args: readonly unknown[],
): Promise<{ readonly status: number; readonly body: unknown }> => {
  const url = `${gateway.public}/${name}/echo`
  const response = await request(url, { method: 'POST', json: { args }, timeoutMs: 20_000 })
  return { status: response.status, body: response.json() }
}
