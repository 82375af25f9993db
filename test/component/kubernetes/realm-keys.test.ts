// Realms that give no signing keys, on real gateways: what one gateway has signed holds at every other, over restarts and
// a change of the leader; and where the operator may not keep keys, documents are served all the same.

import { afterAll, beforeAll, expect, it, jest } from '@jest/globals'
import { hashPassword } from '../../../dataplane/security/passwords/hash-password.ts'
import { REALM_KEYS_SECRET } from '../../../operator/resource/roles.ts'
import { rolesFor } from '../../../operator/resource/roles-for.ts'
import { eventually } from '../../support/eventually.ts'
import { request } from '../../support/http-request.ts'
import { untilForbidden, userOf } from '../../support/kubernetes/access-review.ts'
import {
  describeWithKubernetes,
  RESTART_MS,
} from '../../support/kubernetes/describe-with-kubernetes.ts'
import { notesOf } from '../../support/kubernetes/odd-pages.ts'
import { hasRedis, startRedis } from '../../support/redis-server.ts'
import { logIn, statusOf } from '../secured-api.ts'
import { type GatewayPod, Home, OPERATOR_NAMESPACE, PATIENCE } from './home.ts'
import { aDocument, documentObject, realmObject } from './objects.ts'
import { makeNamespace } from './operator-api.ts'
import type { OperatorProcess } from './operator-process.ts'
import { untilLeading } from './turns.ts'

jest.setTimeout(RESTART_MS)

const ACCOUNT = { serviceAccount: 'svc-operator', operatorNamespace: OPERATOR_NAMESPACE }
const PLACE = `${OPERATOR_NAMESPACE}/${REALM_KEYS_SECRET}`
const SECURED = {
  defaults: { security: { type: 'oauth2', flow: 'resource_owner_password_credentials' } },
}

const user = async (username: string, group: string): Promise<object> => ({
  username,
  passwordHash: await hashPassword(`${username}-password`),
  groups: [group],
})

/** As tests of tokens call it: every host, `/v1/me`. */
const securedDocument = (): object => {
  const options = { host: '_', basePath: '/v1', paths: { '/me': 'you' } }
  const { versions, ...document } = aDocument('shop', 'secured', options) as {
    readonly versions: { readonly v1: object }
  }
  const secured = { ...document, versions: { v1: { ...versions.v1, ...SECURED } } }
  return { ...documentObject('shop', 'secured'), spec: { document: secured } }
}

await describeWithKubernetes('a Realm without signing keys', (plane) => {
  const open = new AsyncDisposableStack()
  const redisFlags: string[] = []
  let home: Home
  let operator: OperatorProcess
  let gateways: readonly GatewayPod[] = []
  let started = 0
  let token = ''

  const startOperator = async (): Promise<OperatorProcess> => {
    const identity = ['--identity', `operator-${(started += 1)}`]
    return home.startOperator({ flags: ['--wildcard-namespaces', 'all', ...identity] })
  }

  const startGateway = (name: string): Promise<GatewayPod> =>
    home.startGatewayPod({ name, flags: redisFlags })

  const statuses = (): Promise<readonly number[]> =>
    Promise.all(gateways.map(({ gateway }) => statusOf(gateway, '/me', token)))

  const digests = (): Promise<readonly unknown[]> =>
    Promise.all(gateways.map(async ({ state }) => (await state()).realms))

  const kidsAt = async ({ gateway }: GatewayPod): Promise<readonly string[]> => {
    const { keys } = (await request(`${gateway.public}/.well-known/jwks.json`)).json() as {
      readonly keys: readonly { readonly kid: string }[]
    }
    return keys.map(({ kid }) => kid).sort()
  }

  const kubectl = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await plane().kubectl(args)
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`)
    return stdout
  }

  const allAre = (status: number): Promise<void> =>
    eventually(async () => {
      expect(await statuses()).toEqual(gateways.map(() => status))
    }, PATIENCE)

  beforeAll(async () => {
    await makeNamespace(plane(), 'shop')
    home = open.use(await Home.open(plane()))
    // With it a gateway knows that it has replicas, and would warn.
    if (hasRedis()) redisFlags.push('--redis', open.use(await startRedis()).url)
    operator = await startOperator()
    await untilLeading(operator)
    gateways = [await startGateway('gw-1'), await startGateway('gw-2')]
    const users = [await user('app', 'api_clients'), await user('alice', 'resource_owners')]
    await plane().apply([realmObject('shop', { users }), securedDocument()])
    await home.until('shop', 'secured', 'Ready', 'Ready')
    await allAre(401)
  }, RESTART_MS)

  afterAll(() => open.disposeAsync())

  it('has one key everywhere: what one gateway signs, the other takes', async () => {
    const [first] = gateways
    if (first === undefined) throw new Error('there is no gateway')
    token = (await logIn(first.gateway)).access_token
    expect(await statuses()).toEqual([200, 200])
    const [one, two] = await Promise.all(gateways.map(kidsAt))
    expect(one).toHaveLength(1)
    expect(two).toEqual(one)
    const { warnings } = (await home.status('apispecifications', 'shop', 'secured')) as {
      readonly warnings?: readonly unknown[]
    }
    expect(JSON.stringify(warnings ?? [])).not.toContain('UnsharedKeys')
    const logs = gateways.flatMap(({ gateway }) => gateway.logs()).join('\n')
    expect(logs).not.toContain('UnsharedKeys')
  })

  it('keeps it over a restart of every gateway', async () => {
    const kids = gateways[0] && (await kidsAt(gateways[0]))
    for (const each of gateways) await each.remove()
    gateways = [await startGateway('gw-3'), await startGateway('gw-4')]
    await allAre(200)
    expect(await Promise.all(gateways.map(kidsAt))).toEqual([kids, kids])
  })

  it('keeps it under another leader, which sends nothing again', async () => {
    const before = await digests()
    const standby = await startOperator()
    await eventually(async () => {
      expect((await fetch(`${standby.url}/ready`)).status).toBe(204)
    }, PATIENCE)
    await operator.stop()
    await untilLeading(standby)
    operator = standby
    gateways = [...gateways, await startGateway('gw-5')]
    await allAre(200)
    expect((await digests()).slice(0, 2)).toEqual(before)
    expect(standby.logs().join('\n')).not.toContain('keys were made')
  })

  it('is what it was after a restart without the right to the Secret, once that is given', async () => {
    const before = await digests()
    const role = rolesFor({ ...ACCOUNT, namespaces: 'all' }).find(
      ({ kind, metadata }) => kind === 'Role' && JSON.stringify(metadata).includes('its own'),
    )
    const older = JSON.stringify(role).replaceAll(`,"${REALM_KEYS_SECRET}"`, '')
    expect(older).not.toContain(REALM_KEYS_SECRET)
    await plane().apply([JSON.parse(older) as object])
    await untilForbidden(plane(), {
      user: userOf(OPERATOR_NAMESPACE, ACCOUNT.serviceAccount),
      verb: 'get',
      resource: 'secrets',
      namespace: OPERATOR_NAMESPACE,
      name: REALM_KEYS_SECRET,
    })
    await operator.stop()
    operator = await startOperator()
    await untilLeading(operator)
    await plane().apply([documentObject('shop', 'other')])
    await home.until('shop', 'other', 'Ready', 'Ready')
    const note = await eventually(async () => {
      const found = (await notesOf(operator)).find((each) => each.includes(PLACE))
      expect(found).toContain('each gateway signs with its own key')
      return found
    }, PATIENCE)
    await allAre(401)
    const fresh = await startGateway('gw-6')
    await eventually(async () => {
      expect(await statusOf(fresh.gateway, '/me', token)).toBe(401)
    }, PATIENCE)
    // At a gateway that knows of replicas.
    await eventually(() => {
      expect(fresh.gateway.logs().join('\n').includes('UnsharedKeys')).toBe(redisFlags.length > 0)
    })
    gateways = [...gateways, fresh]

    const command = note?.slice(note.indexOf('kubectl ')) ?? ''
    for (const each of command.split(' && ')) await kubectl(...each.split(' ').slice(1))
    await eventually(async () => {
      expect((await digests()).slice(0, before.length)).toEqual(before)
      expect(await notesOf(operator)).toEqual([])
    }, PATIENCE)
    await allAre(200)
  })

  it('is rotated in the Secret: one more key first, what the other signed still counts', async () => {
    const ringOf = async (): Promise<{ keys: object[] }> => {
      const path = `jsonpath={.data.keys\\.json}`
      const text = await kubectl(
        'get',
        'secret',
        REALM_KEYS_SECRET,
        '-n',
        OPERATOR_NAMESPACE,
        '-o',
        path,
      )
      return JSON.parse(Buffer.from(text, 'base64').toString()) as { keys: object[] }
    }
    const { keys } = await ringOf()
    const k = Buffer.alloc(32, 7).toString('base64url')
    const stringData = { 'keys.json': JSON.stringify({ keys: [{ kid: 'next', k }, ...keys] }) }
    const patch = JSON.stringify({ stringData })
    await kubectl('patch', 'secret', REALM_KEYS_SECRET, '-n', OPERATOR_NAMESPACE, '-p', patch)
    // It looks once a minute, and as it starts.
    await operator.stop()
    operator = await startOperator()
    await eventually(async () => {
      for (const gateway of gateways) expect(await kidsAt(gateway)).toHaveLength(2)
    }, PATIENCE)
    await allAre(200)
    expect(await ringOf()).toMatchObject({ keys: [{ kid: 'next' }, {}] })
  })
})
