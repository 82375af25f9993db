// An operator that is started anew while a Realm is paused, or its Secret may not be read: what gateways hold serves on,
// and the statuses say what a new gateway can't get.

import { afterAll, beforeAll, expect, it, jest } from '@jest/globals'
import { grantObject } from '../../../operator/resource/roles-for.ts'
import { SECRET_READER } from '../../../operator/resource/roles.ts'
import { eventually } from '../../support/eventually.ts'
import { untilForbidden, userOf } from '../../support/kubernetes/access-review.ts'
import {
  describeWithKubernetes,
  RESTART_MS,
} from '../../support/kubernetes/describe-with-kubernetes.ts'
import { untilPhase } from '../../support/kubernetes/odd-pages.ts'
import { type GatewayPod, Home, LONG, OPERATOR_NAMESPACE, PATIENCE } from './home.ts'
import { documentObject, realmObject, secretObject } from './objects.ts'
import { makeNamespace } from './operator-api.ts'
import type { OperatorProcess } from './operator-process.ts'

jest.setTimeout(180_000)

const ACCOUNT = { serviceAccount: 'svc-operator', operatorNamespace: OPERATOR_NAMESPACE }

await describeWithKubernetes('an operator that starts anew', (plane) => {
  const open = new AsyncDisposableStack()
  let home: Home
  let gateway: GatewayPod
  let operator: OperatorProcess

  beforeAll(async () => {
    await makeNamespace(plane(), 'shop')
    home = open.use(await Home.open(plane()))
    operator = await home.startOperator()
    gateway = await home.startGatewayPod({ name: 'gw-1' })
    await plane().apply([
      grantObject(ACCOUNT, SECRET_READER, 'shop'),
      secretObject('shop', 'hooks', { secret: 'sesame' }),
      realm(1000),
      documentObject('shop', 'orders'),
    ])
    await home.until('shop', 'orders', 'Ready', 'Ready')
  }, RESTART_MS)

  afterAll(() => open.disposeAsync())

  const realm = (callTimeout: number): object =>
    realmObject('shop', {
      callTimeout,
      callbackSecret: { secretRef: { name: 'hooks', key: 'secret' } },
    })

  const restart = async (): Promise<void> => {
    await operator.stop()
    operator = await home.startOperator()
    await eventually(async () => {
      expect(await operator.isLeading()).toBe(true)
    }, PATIENCE)
  }

  /** What both hold is what they held, and it is served. */
  const expectServedOn = async (before: { readonly specs: object; readonly realms: object }) => {
    const { specs, realms } = await gateway.state()
    expect({ specs, realms }).toEqual({ specs: before.specs, realms: before.realms })
    expect((await gateway.get('shop.test', '/orders/x')).status).toBe(200)
    expect(await gateway.isReady()).toBe(true)
  }

  const annotate = (...annotations: readonly string[]) =>
    plane().kubectl(['annotate', 'realm', 'shop', '-n', 'shop', '--overwrite', ...annotations])

  it('a paused Realm that has not changed is what it was, also at a new gateway', async () => {
    await annotate('gateway.svc.dev/paused=true')
    const before = await gateway.state()
    await restart()
    // Ready stood there before: it is in line with what the new operator wants when that has looked at it.
    await untilPhase(operator, `${OPERATOR_NAMESPACE}/gw-1`, 'synced')
    await home.until('shop', 'orders', 'Ready', 'Ready')
    await expectServedOn(before)
    const fresh = await home.startGatewayPod({ name: 'gw-2' })
    await eventually(async () => {
      expect((await fresh.get('shop.test', '/orders/x')).status).toBe(200)
    }, PATIENCE)
    await fresh.remove()
  })

  it('a paused Realm that has changed is held with its documents, until it goes on', async () => {
    await plane().apply([realm(2000)])
    await home.untilRealm('shop', 'shop', 'Ready', 'Pending')
    const before = await gateway.state()
    await restart()
    const { message } = await home.until('shop', 'orders', 'ResolvedRefs', 'Pending')
    expect(message).toContain('Realm shop/shop is paused, and has changed or become unreadable')
    expect(message).toContain("a new gateway can't get it")
    await home.until('shop', 'orders', 'Programmed', 'Programmed')
    // One team's Realm keeps no gateway from the requests of others; its documents are there for what needs no realm.
    const fresh = await home.startGatewayPod({ name: 'gw-3' })
    await eventually(async () => {
      expect(await fresh.isReady()).toBe(true)
    }, PATIENCE)
    expect((await fresh.state()).realms).toEqual({})
    expect((await fresh.get('shop.test', '/orders/x')).status).toBe(200)
    await expectServedOn(before)

    await annotate('gateway.svc.dev/paused-')
    await home.until('shop', 'orders', 'Ready', 'Ready')
    await eventually(async () => {
      expect(Object.keys((await fresh.state()).realms)).toEqual(['com.shop'])
    }, PATIENCE)
    await fresh.remove()
  })

  it('a Realm whose Secret may not be read any more is held with its documents', async () => {
    await plane().kubectl(['delete', 'rolebinding', SECRET_READER, '-n', 'shop'])
    const user = userOf(OPERATOR_NAMESPACE, ACCOUNT.serviceAccount)
    const access = { user, verb: 'list', resource: 'secrets', namespace: 'shop', name: 'hooks' }
    await untilForbidden(plane(), access)
    const before = await gateway.state()
    await restart()
    const { message } = await home.until('shop', 'orders', 'ResolvedRefs', 'Pending')
    expect(message).toContain("Realm shop/shop can't be loaded as it is now (see its conditions)")
    await home.until('shop', 'orders', 'Programmed', 'Programmed')
    await expectServedOn(before)
    await plane().apply([grantObject(ACCOUNT, SECRET_READER, 'shop')])
    await eventually(() => home.until('shop', 'orders', 'Ready', 'Ready'), LONG)
  })
})
