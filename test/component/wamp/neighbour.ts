// A realm beside the one that is tested, with a router of its own: what happens to the other one must not
// touch it.

import { startRouter } from '../../../dev/router/router.ts'
import { eventually } from '../../support/eventually.ts'
import type { GatewayProcess } from '../../support/gateway-process.ts'
import { request } from '../../support/http-request.ts'
import { openRawPeer } from '../../support/raw-wamp-peer.ts'
import { idOf, register } from '../../support/wamp-peer.ts'
import { post } from '../gateway-client.ts'
import { calls } from './wamp-operations.ts'

const REALM = 'com.example.neighbour'
const PROCEDURE = 'com.example.neighbour.greet'
export const NEIGHBOUR_PATH = '/neighbour/greet'

export interface Neighbour extends AsyncDisposable {
  /** Once per gateway. */
  serveOn(gateway: GatewayProcess): Promise<void>
}

export const startNeighbour = async (): Promise<Neighbour> => {
  const router = await startRouter({ realms: [{ uri: REALM, anonymous: true }] })
  const callee = await openRawPeer({ url: router.rawSocketUrl, realm: REALM })
  idOf(await register(callee, PROCEDURE, () => ({ args: ['hello'] })))
  const served = new WeakSet<GatewayProcess>()
  return {
    serveOn: async (gateway) => {
      if (served.has(gateway)) return
      served.add(gateway)
      await post(gateway, '/realms', { uri: REALM, router: { url: router.wsUrl } })
      const greet = { post: calls(PROCEDURE, { args: [] }) }
      await post(gateway, '/api_specs', {
        id: 'neighbour',
        host: '_',
        realm_uri: REALM,
        versions: { v1: { base_path: '/neighbour', paths: { '/greet': greet } } },
      })
      await eventually(async () => {
        const { status, text } = await request(gateway.public + NEIGHBOUR_PATH, { method: 'POST' })
        if (status !== 200) throw new Error(`the neighbour is not served: ${text}`)
      })
    },
    [Symbol.asyncDispose]: async () => {
      callee.close()
      await router.close({ hard: true })
    },
  }
}
