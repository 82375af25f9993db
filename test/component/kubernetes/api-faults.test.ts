// The API server stands still, restarts, crashes, forgets its history, or becomes what it was: gateways serve on, no
// document that stands is deleted, and what the API says in the end is what they hold.

import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals'
import { grantObject } from '../../../operator/resource/roles-for.ts'
import { SECRET_READER } from '../../../operator/resource/roles.ts'
import { eventually } from '../../support/eventually.ts'
import { demand } from '../../support/kubernetes/api-client.ts'
import {
  describeWithKubernetes,
  RESTART_MS,
} from '../../support/kubernetes/describe-with-kubernetes.ts'
import { resourceVersionOf } from '../../support/kubernetes/odd-documents.ts'
import { type OddPod, startOddPod } from '../../support/kubernetes/odd-pod.ts'
import { startTcpRelay } from '../../support/tcp-relay.ts'
import { type GatewayPod, Home, LONG, OPERATOR_NAMESPACE, PATIENCE } from './home.ts'
import { documentObject, realmObject, secretObject } from './objects.ts'
import { makeNamespace } from './operator-api.ts'
import type { OperatorProcess } from './operator-process.ts'
import { A_LEASE_LATER, leaseNow, untilFollowing, untilLeading, whileAsking } from './turns.ts'

jest.setTimeout(180_000)

const HOST = 'shop.test'
/** From when the leader has given up, 10 s after its last renewal: then the 15 s of its Lease are over, too. */
const LEASE_IS_OVER_MS = 7_000

await describeWithKubernetes('an API server with faults', (plane) => {
  const open = new AsyncDisposableStack()
  let home: Home
  let gateway: GatewayPod
  let odd: OddPod
  let operator: OperatorProcess

  const apply = (name: string, response: string): Promise<void> =>
    plane().apply([documentObject('shop', name, { paths: { '/x': response } })])

  const remove = async (name: string): Promise<void> => {
    const path = `/apis/gateway.svc.dev/v1alpha1/namespaces/shop/apispecifications/${name}`
    demand(await plane().request({ method: 'DELETE', path }))
  }

  const body = async (name: string): Promise<string> => {
    const { status, text } = await gateway.get(HOST, `/${name}/x`)
    return status === 200 ? text : String(status)
  }

  const becomes = (bodies: Readonly<Record<string, string>>): Promise<void> =>
    eventually(async () => {
      for (const [name, expected] of Object.entries(bodies))
        expect({ name, body: await body(name) }).toEqual({ name, body: expected })
    }, A_LEASE_LATER)

  /** Applied, told to be in service, and in service; also where watches wait before they are tried again. */
  const change = async (name: string, response: string): Promise<void> => {
    await apply(name, response)
    await eventually(() => home.until('shop', name, 'Programmed', 'Programmed'), LONG)
    expect(await body(name)).toBe(`"${response}"`)
  }

  /** Each data plane is told in its own time. */
  const untilOddLacks = (name: string): Promise<void> =>
    eventually(() => {
      expect(odd.digest(name)).toBeUndefined()
    }, PATIENCE)

  /** What the status says is in service is what both hold. */
  const expectTrueStatus = async (name: string): Promise<void> => {
    await home.until('shop', name, 'Ready', 'Ready')
    await eventually(async () => {
      const { programmedDigest } = await home.status('apispecifications', 'shop', name)
      const held = (await gateway.state()).specs[name]?.digest
      expect([held, odd.digest(name)]).toEqual([programmedDigest, programmedDigest])
    }, PATIENCE)
  }

  const whileServed = async (work: () => Promise<void>): Promise<void> => {
    const { asked, odd: others } = await whileAsking(() => body('kept'), '"kept"', work)
    expect(others).toEqual([])
    expect(asked).toBeGreaterThan(0)
    expect(await gateway.isReady()).toBe(true)
  }

  beforeAll(async () => {
    await makeNamespace(plane(), 'shop')
    home = open.use(await Home.open(plane()))
    operator = await home.startOperator()
    gateway = await home.startGatewayPod({ name: 'gw-1' })
    odd = await startOddPod(plane(), { name: 'odd-1' })
    open.defer(() => odd.fake.close())
    await plane().apply([realmObject('shop'), documentObject('shop', 'kept')])
    await untilLeading(operator)
    await change('changing', 'first')
    await expectTrueStatus('kept')
    // A status that counts them later would be one that has changed.
    for (const name of ['kept', 'changing']) await home.untilCounted('shop', name, '2/2')
  }, RESTART_MS)

  afterAll(() => open.disposeAsync())

  it('paused for longer than a Lease: no replica acts, and afterwards all is as it was', async () => {
    const before = {
      lease: await leaseNow(plane()),
      kept: await resourceVersionOf(plane(), 'kept'),
      changing: await resourceVersionOf(plane(), 'changing'),
    }
    await whileServed(async () => {
      await plane().pause()
      try {
        await untilFollowing(operator)
        // The leader would fill it again.
        odd.fake.restart()
        const syncs = odd.fake.syncs.length
        await sleep(LEASE_IS_OVER_MS)
        expect(odd.fake.syncs.length).toBe(syncs)
      } finally {
        plane().resume()
      }
      await untilLeading(operator)
    })
    await expectTrueStatus('kept')
    expect({
      lease: await leaseNow(plane()),
      kept: await resourceVersionOf(plane(), 'kept'),
      changing: await resourceVersionOf(plane(), 'changing'),
    }).toEqual(before)
    await change('changing', 'after the pause')
    expect(odd.deletes()).toEqual([])
  })

  it.each([
    {
      title: 'stopped and started',
      fault: async () => {
        await plane().stop()
        await plane().start()
      },
    },
    { title: 'crashed', fault: () => plane().crash() },
    { title: 'compacted', fault: () => plane().compact() },
    {
      title: 'compacted, with changes that the operator had no time to see',
      fault: async () => {
        operator.signal('SIGSTOP')
        await remove('unseen')
        await apply('changing', 'unseen')
        await plane().compact()
        operator.signal('SIGCONT')
        await becomes({ unseen: '404', changing: '"unseen"' })
      },
    },
  ])(
    '$title: what serves stays, and what comes after is seen',
    async ({ title, fault }) => {
      await change('unseen', title)
      await change('passing', title)
      await expectTrueStatus('kept')
      const kept = await resourceVersionOf(plane(), 'kept')
      const deleted = odd.deletes().length
      await whileServed(async () => {
        await fault()
        await untilLeading(operator)
        await change('changing', `after: ${title}`)
        await remove('passing')
        await becomes({ passing: '404' })
      })
      await expectTrueStatus('changing')
      expect(await resourceVersionOf(plane(), 'kept')).toBe(kept)
      await untilOddLacks('passing')
      const expected = title.includes('no time to see') ? ['unseen', 'passing'] : ['passing']
      expect(odd.deletes().slice(deleted)).toEqual(expected)
    },
    RESTART_MS,
  )

  it(
    'stopped and started: its many watches are logged together',
    async () => {
      const many = Array.from({ length: 40 }, (_, index) => `key-${index}`)
      const account = { serviceAccount: 'svc-operator', operatorNamespace: OPERATOR_NAMESPACE }
      await plane().apply([
        ...many.map((name) => secretObject('shop', name, { value: 'x' })),
        grantObject(account, SECRET_READER, 'shop'),
        documentObject('shop', 'referring', {
          spec: {
            variablesFrom: many.map((name) => ({ name, secretRef: { name, key: 'value' } })),
          },
        }),
      ])
      await home.until('shop', 'referring', 'Ready', 'Ready')
      const before = operator.logs().length
      const told = (): readonly string[] =>
        operator
          .logs()
          .slice(before)
          .filter((line) =>
            /"msg":"(?:watches fail, so data may be out of date|watches work again)"/.test(line),
          )
      await plane().stop()
      // What is told from `before` on may yet be of the faults of tests before.
      const ours =
        /"watches":\d\d,"resources":"\d\d secrets.*"msg":"watches fail, so data may be out of date"/
      await eventually(() => {
        expect(told().join('\n')).toMatch(ours)
      }, A_LEASE_LATER)
      await plane().start()
      await eventually(() => {
        expect(told().at(-1)).toMatch(/"left":0.*"msg":"watches work again"/)
      }, A_LEASE_LATER)
      expect(told().length).toBeLessThan(20)
    },
    RESTART_MS,
  )

  it(
    'hangs, on its old connections for ever: every watch is back, and the first edit is in service',
    async () => {
      await operator.stop()
      await using relay = await startTcpRelay(Number(new URL(plane().server).port))
      operator = await home.startOperator({ apiServerPort: relay.port })
      await untilLeading(operator)
      await change('changing', 'before the hang')
      await whileServed(async () => {
        relay.freeze()
        await untilFollowing(operator)
        await sleep(LEASE_IS_OVER_MS)
        await apply('changing', 'in the hang')
        // By itself a watch would notice within two and a half minutes that nothing speaks to it any more.
        relay.thawNew()
        await untilLeading(operator)
        await eventually(async () => {
          expect(await body('changing')).toBe('"in the hang"')
        }, PATIENCE)
        await apply('changing', 'after the hang')
        await home.until('shop', 'changing', 'Programmed', 'Programmed')
        expect(await body('changing')).toBe('"after the hang"')
      })
      await eventually(async () => {
        expect(await operator.page('/status')).toMatchObject({ notes: [] })
      }, PATIENCE)
      expect(odd.deletes()).not.toContain('changing')
      await operator.stop()
      operator = await home.startOperator()
      await untilLeading(operator)
    },
    RESTART_MS,
  )

  it(
    'restored to an older state: that is what is served in the end',
    async () => {
      await change('changing', 'of the older state')
      await change('gone', 'of the older state')
      await expectTrueStatus('kept')
      const snapshot = await plane().snapshot()
      // Also of another leader: the Lease will name one that is no more, with an epoch that is over.
      await operator.stop()
      operator = await home.startOperator()
      await untilLeading(operator)
      const { epoch } = await leaseNow(plane())
      await change('changing', 'of the lost future')
      await change('later', 'of the lost future')
      await remove('gone')
      await becomes({ gone: '404' })
      await untilOddLacks('gone')
      const deleted = odd.deletes().length

      await whileServed(async () => {
        await plane().restore(snapshot)
        await becomes({
          kept: '"kept"',
          changing: '"of the older state"',
          gone: '"of the older state"',
          later: '404',
        })
      })
      for (const name of ['kept', 'changing', 'gone']) await expectTrueStatus(name)
      await untilOddLacks('later')
      expect(odd.deletes().slice(deleted)).toEqual(['later'])
      // The restored Lease is noticed by its next renewal only: until then the turn from before may still be on.
      await eventually(async () => {
        expect((await leaseNow(plane())).epoch).toBeGreaterThan(epoch)
      }, A_LEASE_LATER)
      await untilLeading(operator)
      await whileServed(async () => {
        await change('changing', 'of the new future')
        await change('later', 'of the new future')
        await remove('gone')
        await becomes({ gone: '404' })
      })
      // Pods are watched from the older state, too.
      await using newcomer = await startOddPod(plane(), { name: 'odd-2' })
      await eventually(() => {
        const held = [...newcomer.fake.specs.keys()].sort()
        expect(held).toEqual([...odd.fake.specs.keys()].sort())
      }, PATIENCE)
    },
    RESTART_MS,
  )
})
