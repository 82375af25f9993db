// Programs of two versions on one API server: operators and gateways of a commit before this one, and of this one,
// there and back again.

import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals'
import {
  describeWithKubernetes,
  RESTART_MS,
} from '../../support/kubernetes/describe-with-kubernetes.ts'
import { eventually } from '../../support/eventually.ts'
import { type OlderVersion, olderVersion, tellOfNoHistory } from '../../support/older-version.ts'
import { type GatewayPod, Home, LONG } from './home.ts'
import { documentObject, realmObject } from './objects.ts'
import { makeNamespace } from './operator-api.ts'
import type { OperatorProcess } from './operator-process.ts'

jest.setTimeout(180_000)

const found = await olderVersion()

const PAIR = ['older', 'newer']
const ALL = [...PAIR, 'older-2', 'newer-2']

const withOlder = async (older: OlderVersion): Promise<void> =>
  describeWithKubernetes(`beside version ${older.commit.slice(0, 12)}`, (plane) => {
    const open = new AsyncDisposableStack()
    const gateways = new Map<string, GatewayPod>()
    let home: Home
    let leader: OperatorProcess

    beforeAll(async () => {
      await makeNamespace(plane(), 'shop')
      // Kinds come first, as in every upgrade.
      home = open.use(await Home.open(plane(), { tls: true }))
      leader = await home.startOperator({ main: older.operator })
      await plane().apply([
        realmObject('shop', { router: { url: 'ws://127.0.0.1:9/ws' } }),
        documentObject('shop', 'orders', { paths: { '/x': 'first' } }),
      ])
    }, RESTART_MS)

    afterAll(() => open.disposeAsync())

    const start = async (name: string, main?: string): Promise<void> => {
      gateways.set(name, await home.startGatewayPod({ name, ...(main !== undefined && { main }) }))
    }

    /** The next leads at once: the one before gives the Lease back. */
    const replaceLeader = async (main?: string): Promise<void> => {
      await leader.stop()
      leader = await home.startOperator(main === undefined ? {} : { main })
    }

    const edit = (text: string): Promise<void> =>
      plane().apply([documentObject('shop', 'orders', { paths: { '/x': text } })])

    /** By whom, once the status says that all have it. */
    const servedBy = async (text: string): Promise<readonly string[]> => {
      await eventually(async () => {
        const { conditions } = await home.status('apispecifications', 'shop', 'orders')
        const ready = conditions.find(({ type }) => type === 'Ready')
        expect({ ready, logs: leader.logs().slice(-5) }).toMatchObject({
          ready: { status: 'True' },
        })
      }, LONG)
      for (const [name, gateway] of gateways)
        await eventually(async () => {
          expect([name, await gateway.isReady()]).toEqual([name, true])
          const response = await gateway.get('shop.test', '/orders/x')
          expect([name, response]).toEqual([name, { status: 200, text: JSON.stringify(text) }])
        }, LONG)
      return [...gateways.keys()]
    }

    it('an older operator serves older and newer gateways', async () => {
      await start('older', older.gateway)
      await start('newer')
      expect(await servedBy('first')).toEqual(PAIR)
      await edit('second')
      expect(await servedBy('second')).toEqual(PAIR)
    })

    it('a newer operator takes over what the older one has left, and edits it', async () => {
      await replaceLeader()
      expect(await servedBy('second')).toEqual(PAIR)
      await edit('third')
      expect(await servedBy('third')).toEqual(PAIR)
    })

    it('gateways of both versions start under a newer operator', async () => {
      await start('older-2', older.gateway)
      await start('newer-2')
      expect(await servedBy('third')).toEqual(ALL)
    })

    it('an older operator takes over again, and edits it', async () => {
      await replaceLeader(older.operator)
      expect(await servedBy('third')).toEqual(ALL)
      await edit('fourth')
      expect(await servedBy('fourth')).toEqual(ALL)
      await plane().kubectl(['delete', 'apispec', 'orders', '-n', 'shop'])
      for (const gateway of gateways.values())
        await eventually(async () => {
          expect((await gateway.get('shop.test', '/orders/x')).status).toBe(404)
        }, LONG)
    })
  })

if (found === undefined) {
  tellOfNoHistory('programs of two versions')
  // eslint-disable-next-line jest/no-disabled-tests -- There is nothing to run it with.
  describe.skip('beside an older version', () => {
    it.todo('there is none in the history of this checkout')
  })
} else await withOlder(found)
