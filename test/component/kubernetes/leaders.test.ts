// Two operators of one Lease: one leads, the other is warm. Whatever becomes of the one, the other goes on where it
// was: data planes are asked what they hold and sent nothing that they have.

import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals'
import { GROUP } from '../../../operator/resource/resource.ts'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'
import { startGateway } from '../../support/gateway-process.ts'
import { request } from '../../support/http-request.ts'
import {
  describeWithKubernetes,
  RESTART_MS,
} from '../../support/kubernetes/describe-with-kubernetes.ts'
import { resourceVersionOf } from '../../support/kubernetes/odd-documents.ts'
import { type OddPod, startOddPod } from '../../support/kubernetes/odd-pod.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { type GatewayPod, Home, OPERATOR_NAMESPACE, PATIENCE } from './home.ts'
import { documentObject, realmObject } from './objects.ts'
import { makeNamespace } from './operator-api.ts'
import type { OperatorProcess } from './operator-process.ts'
import {
  A_LEASE_LATER,
  deleteLease,
  leaseNow,
  loadsOf,
  releaseLease,
  untilFollowing,
  untilLeading,
  untilObserved,
} from './turns.ts'

jest.setTimeout(180_000)

const HOST = 'shop.test'
const OPERATOR = join(import.meta.dirname, '../../../operator/main.ts')

const countOf = ({ logs }: OperatorProcess, message: string): number =>
  logs().filter((line) => line.includes(`"msg":"${message}"`)).length

await describeWithKubernetes('two operators of one Lease', (plane) => {
  const open = new AsyncDisposableStack()
  let home: Home
  let gateway: GatewayPod
  let odd: OddPod
  let leader: OperatorProcess
  let standby: OperatorProcess
  let started = 0

  const startWarm = async (): Promise<OperatorProcess> => {
    const operator = await home.startOperator({
      flags: ['--identity', `operator-${(started += 1)}`],
    })
    await eventually(async () => {
      expect((await fetch(`${operator.url}/ready`)).status).toBe(204)
    }, PATIENCE)
    return operator
  }

  const change = async (response: string): Promise<void> => {
    await plane().apply([documentObject('shop', 'changing', { paths: { '/x': response } })])
    await home.until('shop', 'changing', 'Programmed', 'Programmed')
    expect((await gateway.get(HOST, '/changing/x')).text).toBe(`"${response}"`)
    await home.until('shop', 'changing', 'Ready', 'Ready')
  }

  /** What no change of the leader may touch. */
  const still = async (): Promise<unknown> => ({
    kept: await resourceVersionOf(plane(), 'kept'),
    changing: await resourceVersionOf(plane(), 'changing'),
    loads: await loadsOf(gateway.gateway),
    syncs: odd.fake.syncs.length,
  })

  /** The standby has taken over; another one comes in its place. */
  const moveUp = async (): Promise<void> => {
    leader = standby
    standby = await startWarm()
  }

  beforeAll(async () => {
    await makeNamespace(plane(), 'shop')
    home = open.use(await Home.open(plane()))
    gateway = await home.startGatewayPod({ name: 'gw-1' })
    odd = await startOddPod(plane(), { name: 'odd-1' })
    open.defer(() => odd.fake.close())
    await plane().apply([realmObject('shop'), documentObject('shop', 'kept')])
    leader = await startWarm()
    await untilLeading(leader)
    standby = await startWarm()
    await change('first')
    await home.until('shop', 'kept', 'Ready', 'Ready')
    for (const name of ['kept', 'changing']) await home.untilCounted('shop', name, '2/2')
  }, RESTART_MS)

  afterAll(() => open.disposeAsync())

  it('each names the leader: the standby has no lists, and what it lacks is not taken for gone', async () => {
    const { holder } = await leaseNow(plane())
    const name = holder.replace(/_\w{8}$/, '')
    const named = { name, namespace: OPERATOR_NAMESPACE, since: expect.stringMatching(/^2\d{3}-/) }
    expect(await leader.page('/status')).toMatchObject({
      leading: true,
      role: 'leader',
      leader: named,
      resources: expect.arrayContaining([expect.objectContaining({ name: 'kept' })]),
    })
    await eventually(async () => {
      expect(await standby.page('/status')).toEqual({
        ready: true,
        leading: false,
        role: 'standby',
        leader: named,
        notes: [],
        message: expect.stringContaining(`; ${name} leads and answers`),
      })
    }, PATIENCE)
    const missed = await fetch(`${standby.url}/debug/resources/shop/kept`)
    expect([missed.status, await missed.json()]).toEqual([
      503,
      expect.objectContaining({ message: expect.stringContaining(`; ${name} leads`) }),
    ])
  })

  it('a Lease that is deleted is made again by its holder, who leads on', async () => {
    const before = { lease: await leaseNow(plane()), still: await still() }
    await deleteLease(plane())
    await eventually(async () => {
      const { uid, ...lease } = await leaseNow(plane())
      expect(uid).not.toBe(before.lease.uid)
      expect(lease).toEqual({ holder: before.lease.holder, epoch: before.lease.epoch })
    }, A_LEASE_LATER)
    await untilObserved(odd.fake)
    expect(await still()).toEqual(before.still)
    await change('after the Lease was deleted')
    expect(odd.fake.syncs.at(-1)?.epoch).toBe(before.lease.epoch)
    expect({
      leader: [countOf(leader, 'leading'), countOf(leader, 'no longer leading')],
      standby: countOf(standby, 'leading'),
    }).toEqual({ leader: [1, 0], standby: 0 })
  })

  it('kill -9 of the leader: the standby takes over, looks, and sends what is new only', async () => {
    const before = { lease: await leaseNow(plane()), still: await still() }
    await leader.kill()
    await untilLeading(standby)
    const { epoch } = await leaseNow(plane())
    expect(epoch).toBeGreaterThan(before.lease.epoch)
    await untilObserved(odd.fake)
    expect(await still()).toEqual(before.still)
    const syncs = odd.fake.syncs.length
    await change('after the leader was killed')
    const sent = odd.fake.syncs.slice(syncs)
    expect(sent.flatMap(({ specs }) => specs?.put ?? []).map(({ id }) => id)).toEqual(['changing'])
    expect(sent.map((sync) => sync.epoch)).toEqual(sent.map(() => epoch))
    await moveUp()
  })

  it('a leader that ends in order gives the Lease back: the standby does not wait until it expires', async () => {
    const before = { lease: await leaseNow(plane()), still: await still() }
    await leader.stop()
    // Given back, or taken by the standby already; what has expired keeps its holder's name until it is taken.
    const after = await leaseNow(plane())
    expect(after.holder).not.toBe(before.lease.holder)
    await untilLeading(standby)
    expect((await leaseNow(plane())).epoch).toBe(before.lease.epoch + 1)
    await untilObserved(odd.fake)
    expect(await still()).toEqual(before.still)
    await change('after the leader ended')
    await moveUp()
  })

  it('a leader that stands still for longer than its lease wakes up to nothing', async () => {
    const kept = await resourceVersionOf(plane(), 'kept')
    const { epoch } = await leaseNow(plane())
    const gate = Promise.withResolvers<undefined>()
    odd.fake.misbehaviours.push({ on: 'sync', until: gate.promise })
    await plane().apply([documentObject('shop', 'changing', { paths: { '/x': 'of the old' } })])
    await eventually(() => {
      expect(odd.fake.misbehaviours).toEqual([])
    }, PATIENCE)
    // Its call is on the way to a data plane, and what it knows is what was then.
    leader.signal('SIGSTOP')
    await plane().apply([documentObject('shop', 'changing', { paths: { '/x': 'of the new' } })])
    await untilLeading(standby)
    await home.until('shop', 'changing', 'Programmed', 'Programmed')
    const later = await leaseNow(plane())
    expect(later.epoch).toBeGreaterThan(epoch)

    const from = odd.fake.calls.length
    const digest = odd.digest('changing')
    gate.resolve(undefined)
    await eventually(() => {
      const late = odd.fake.calls.slice(from).filter(({ sync }) => sync?.epoch === epoch)
      expect(late.map(({ status }) => status)).toEqual([409])
    }, PATIENCE)
    expect(odd.digest('changing')).toBe(digest)
    leader.signal('SIGCONT')
    await untilFollowing(leader)
    await change('after the old one woke up')
    await untilObserved(odd.fake)
    const stale = odd.fake.calls
      .slice(from)
      .filter(({ sync }) => (sync?.epoch ?? later.epoch) < later.epoch)
    expect(stale.map(({ status }) => status)).toEqual([409])
    expect(await leaseNow(plane())).toEqual(later)
    expect(await resourceVersionOf(plane(), 'kept')).toBe(kept)
    const { programmedDigest } = await home.status('apispecifications', 'shop', 'changing')
    expect([odd.digest('changing'), (await gateway.state()).specs['changing']?.digest]).toEqual([
      programmedDigest,
      programmedDigest,
    ])
    // The old one is the standby now.
    ;[leader, standby] = [standby, leader]
  })

  it('a gateway that an operator without Kubernetes has managed is taken over, whatever its epoch', async () => {
    await using dir = await makeTempDir()
    const management = await freePort()
    await using adopted = await startGateway({
      flags: ['--management', `127.0.1.100:${management}`, '--managed', 'svc-operator'],
    })
    const manifests = join(dir.path, 'manifests')
    await mkdir(manifests)
    const realm = realmObject('shop')
    const files = [realm, documentObject('shop', 'kept'), documentObject('shop', 'by-hand')]
    for (const [index, object] of files.entries())
      await writeFile(join(manifests, `${index}.yaml`), JSON.stringify(object))
    const flags = ['--manifests', manifests, '--data-planes', adopted.management, '--once']
    await promisify(execFile)(process.execPath, [OPERATOR, ...flags, '--status', 'off'])
    const ask = async (path: string): Promise<number> =>
      (await request(`${adopted.public}${path}`, { headers: { host: HOST } })).status
    expect([await ask('/kept/x'), await ask('/by-hand/x')]).toEqual([200, 200])
    const before = await leaseNow(plane())

    const pod = await plane().fakePod({
      namespace: OPERATOR_NAMESPACE,
      name: 'adopted',
      ip: '127.0.1.100',
      ports: { management },
      labels: { [`${GROUP}/data-plane`]: 'shared' },
    })
    await eventually(async () => {
      expect([await ask('/kept/x'), await ask('/by-hand/x')]).toEqual([200, 404])
      expect(await ask('/changing/x')).toBe(200)
    }, A_LEASE_LATER)
    const raised = await leaseNow(plane())
    expect(raised.holder).toBe(before.holder)
    expect(raised.epoch).toBeGreaterThan(Date.UTC(2020))
    // The next leader is above it, and all data planes go along.
    await leader.kill()
    await releaseLease(plane())
    await untilLeading(standby)
    expect((await leaseNow(plane())).epoch).toBe(raised.epoch + 1)
    await change('after the epoch was raised')
    expect(odd.fake.syncs.at(-1)?.epoch).toBe(raised.epoch + 1)
    await eventually(async () => {
      const { text } = await request(`${adopted.public}/changing/x`, { headers: { host: HOST } })
      expect(text).toBe('"after the epoch was raised"')
    }, PATIENCE)
    await pod.delete()
  })
})
