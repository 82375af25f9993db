// Documents of several namespaces in one real gateway, as an operator sends them: where each may lead.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { digestOf, restrictedDigest } from '../../language/wire/digest.ts'
import type { StateView, SyncReply } from '../../language/wire/wire.ts'
import type { Value } from '../../language/expression/value.ts'
import { startGateway, type GatewayProcess } from '../support/gateway-process.ts'
import { request } from '../support/http-request.ts'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'
import { api, forwards, post, REALM } from './gateway-client.ts'

let gateway: GatewayProcess
let dir: TempDir
let upstream: Server
let port: number
/** It answers at the address of another Pod, as it were, where gateways are managed. */
let otherGateway: Server
let managementPort: number

/** As in a Pod. */
const IN_CLUSTER = { KUBERNETES_SERVICE_HOST: '127.0.0.9', KUBERNETES_SERVICE_PORT: '443' }

const start = (env: Readonly<Record<string, string>> = IN_CLUSTER): Promise<GatewayProcess> =>
  startGateway({
    flags: [
      '--managed',
      'op',
      '--state-dir',
      dir.path,
      '--management',
      `127.0.0.1:${managementPort}`,
    ],
    env,
  })

const listen = async (body: string, address: string): Promise<Server> => {
  const server = createServer((_, response) => response.end(body))
  await new Promise<void>((resolve) => server.listen(0, address, resolve))
  return server
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port

const close = async (server: Server): Promise<void> => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}

beforeAll(async () => {
  dir = await makeTempDir()
  upstream = await listen('the bank', '127.0.0.1')
  port = portOf(upstream)
  otherGateway = await listen('the realms', '127.0.0.2')
  managementPort = portOf(otherGateway)
  gateway = await start()
})

afterAll(async () => {
  await gateway.stop()
  await Promise.all([close(upstream), close(otherGateway)])
  await dir[Symbol.asyncDispose]()
})

const documentOf = (id: string): object =>
  api(id, {
    '/bank': forwards(`http://127.0.0.1:${port}`, '/'),
    '/written/:host': forwards(`"http://{{request.bindings.host}}:${port}"`, '/'),
    '/api-server': forwards(`http://127.0.0.9:${port}`, '/'),
    '/gateway': forwards(`http://127.0.0.2:${managementPort}`, '/'),
  })

/** Puts the documents, each with what it is confined to. */
const sync = async (documents: Readonly<Record<string, string | undefined>>): Promise<unknown> => {
  const state = await request(`${gateway.management}/api_specs?view=state`)
  const { rootDigest, epoch } = state.json() as StateView
  const realm = { uri: REALM }
  const response = await post(gateway, '/api_specs/_sync', {
    managedBy: 'op',
    epoch: Math.max(epoch, 1),
    base: rootDigest,
    realms: { put: [{ uri: REALM, digest: digestOf(realm), realm }] },
    specs: {
      put: Object.entries(documents).map(([id, confinedTo]) => {
        const spec = documentOf(id)
        const digest = restrictedDigest(digestOf(spec as Value), { confinedTo, withheld: [] })
        return { id, digest, since: 1, spec, ...(confinedTo !== undefined && { confinedTo }) }
      }),
    },
  })
  return (response.json() as SyncReply).items.map(({ result }) => result)
}

const statusOf = async (path: string): Promise<readonly unknown[]> => {
  const { status, text, json } = await request(`${gateway.public}${path}`)
  return status === 200 ? [200, text] : [status, (json() as { code: string }).code]
}

const SERVED = [200, 'the bank']
const DENIED = [504, 'svc.error.bad_gateway']

it('a document that may not leave its namespace does not, beside one that may', async () => {
  expect(await sync({ free: undefined, shop: 'shop' })).toEqual(['loaded', 'loaded', 'loaded'])
  for (const host of ['bank', 'written/127.0.0.1', 'written/localhost', 'written/0x7f000001']) {
    // In this order: the second finds a connection that the first has left open.
    expect(await statusOf(`/free/${host}`)).toEqual(SERVED)
    expect(await statusOf(`/shop/${host}`)).toEqual(DENIED)
  }
})

it.each(['free', 'shop'])(
  'the API server and the management ports of gateways are for no document: %s',
  async (id) => {
    expect(await statusOf(`/${id}/api-server`)).toEqual(DENIED)
    expect(await statusOf(`/${id}/gateway`)).toEqual(DENIED)
  },
)

it('a snapshot keeps it', async () => {
  await gateway.stop()
  gateway = await start()
  expect(await statusOf('/free/bank')).toEqual(SERVED)
  expect(await statusOf('/shop/bank')).toEqual(DENIED)
})

it('a policy that changes takes effect with the next sync call', async () => {
  expect(await sync({ free: 'shop', shop: undefined })).toEqual(['unchanged', 'loaded', 'loaded'])
  expect(await statusOf('/free/bank')).toEqual(DENIED)
  expect(await statusOf('/shop/bank')).toEqual(SERVED)
})

it('outside of a cluster nothing of it is closed', async () => {
  await gateway.stop()
  gateway = await start({})
  expect(await statusOf('/shop/gateway')).toEqual([200, 'the realms'])
})
