// Starts what the route benchmarks measure: a real API server, the operator and gateways as processes with a Pod object
// each, and two upstreams that say which of them answered.

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { GROUP } from '../../../operator/resource/resource.ts'
import { type GatewayPod, Home, LONG } from '../../component/kubernetes/home.ts'
import { makeNamespace } from '../../component/kubernetes/operator-api.ts'
import type { OperatorProcess } from '../../component/kubernetes/operator-process.ts'
import { eventually } from '../../support/eventually.ts'
import { demand } from '../../support/kubernetes/api-client.ts'
import type { ControlPlane } from '../../support/kubernetes/control-plane.ts'
import { API_KEY, LIVE_HOST, NAMESPACE, realm } from './documents.ts'

const GATEWAYS = 2

export interface Rig {
  readonly operator: OperatorProcess
  readonly gateways: readonly GatewayPod[]
  /** Base URLs. */
  readonly upstreams: readonly [string, string]
  /** Creates the resource, or replaces what is there by server-side apply. */
  apply(resource: object): Promise<void>
  remove(name: string): Promise<void>
}

/** @param use gets the rig, which ends with it */
export const withRig = async <T>(
  plane: ControlPlane,
  use: (rig: Rig) => Promise<T>,
): Promise<T> => {
  await using stack = new AsyncDisposableStack()
  const home = stack.use(await Home.open(plane))
  await makeNamespace(plane, NAMESPACE)
  const upstreams = [await startUpstream(stack, 0), await startUpstream(stack, 1)] as const
  const operator = await home.startOperator({ main: resolve('dist/operator/main.js') })
  const gateways: GatewayPod[] = []
  for (let index = 0; index < GATEWAYS; index++)
    gateways.push(
      await home.startGatewayPod({
        name: `gateway-${index}`,
        main: resolve('dist/dataplane/main.js'),
        flags: ['--upstream-allow', '127.0.0.0/8', '--log-level', 'error'],
      }),
    )
  const apply = async (resource: object): Promise<void> => {
    const { kind, metadata } = resource as Named
    const path = `${pathOf(kind)}/${metadata.name}?fieldManager=bench&force=true`
    const contentType = 'application/apply-patch+yaml'
    demand(await plane.request({ method: 'PATCH', path, contentType, body: resource }))
  }
  await apply(realm(createHash('sha256').update(API_KEY).digest('hex')))
  await eventually(async () => {
    for (const gateway of gateways)
      if (!(await gateway.isReady())) throw new Error('a gateway is not ready')
  }, LONG)
  return await use({
    operator,
    gateways,
    upstreams,
    apply,
    remove: async (name) => {
      const path = `${pathOf('ApiSpecification')}/${name}`
      demand(await plane.request({ method: 'DELETE', path }))
    },
  })
}

interface Named {
  readonly kind: 'ApiSpecification' | 'Realm'
  readonly metadata: { readonly name: string }
}

const pathOf = (kind: Named['kind']): string =>
  `/apis/${GROUP}/v1alpha1/namespaces/${NAMESPACE}/${kind.toLowerCase()}s`

/** Answers with its index, and with the version that it was sent. */
const startUpstream = async (stack: AsyncDisposableStack, index: number): Promise<string> => {
  const server = createServer((request, response) => {
    const sent = request.headers['x-sent-version']
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ upstream: index, ...(sent !== undefined && { sent }) }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  stack.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Whether every gateway serves the live document. */
export const liveIsServed = async ({ gateways }: Rig): Promise<void> => {
  for (const gateway of gateways) {
    const { status } = await gateway.get(LIVE_HOST, '/live')
    if (status !== 200) throw new Error(`/live is ${status}`)
  }
}
