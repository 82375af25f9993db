// `svc apply`, `svc status` and `svc diff` on a real API server, with an operator and gateways as real processes: what
// is changed, what a person reads, and that nothing is changed where something is wrong.

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it, jest } from '@jest/globals'
import { demand } from '../../support/kubernetes/api-client.ts'
import {
  describeWithKubernetes,
  RESTART_MS,
} from '../../support/kubernetes/describe-with-kubernetes.ts'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'
import { freePort } from '../../support/free-port.ts'
import { eventually } from '../../support/eventually.ts'
import { svc, type SvcRun } from '../../cli/run-svc.ts'
import { type GatewayPod, Home, PATIENCE } from './home.ts'
import { documentObject, realmObject, roleBindingObject, secretObject } from './objects.ts'
import { makeNamespace } from './operator-api.ts'
import type { OperatorProcess } from './operator-process.ts'

jest.setTimeout(RESTART_MS)

await describeWithKubernetes('svc with a cluster', (plane) => {
  const open = new AsyncDisposableStack()
  let directory: TempDir
  let operator: OperatorProcess
  let gateway: GatewayPod
  let owner: string

  beforeAll(async () => {
    directory = open.use(await makeTempDir())
    for (const name of ['shop', 'other']) await makeNamespace(plane(), name)
    const home = open.use(await Home.open(plane()))
    const webhook = `127.0.0.1:${await freePort()}`
    operator = await home.startOperator({
      flags: ['--webhook', webhook, '--webhook-url', `https://${webhook}`],
    })
    gateway = await home.startGatewayPod({ name: 'gw-1' })
    owner = await plane().serviceAccount('shop', 'owner')
    await plane().apply([roleBindingObject('shop', 'owner', 'admin')])
    // Whatever comes before it answers is not validated.
    await eventually(async () => {
      const bad = documentObject('shop', 'bad', { id: '_' })
      const path = `${OF_SHOP}/apispecifications?dryRun=All`
      const { text } = await plane().request({ method: 'POST', path, body: bad })
      if (!text.includes('denied')) throw new Error(`the webhook does not answer: ${text}`)
    }, PATIENCE)
  }, RESTART_MS)

  afterAll(() => open.disposeAsync())

  beforeEach(async () => {
    for (const kind of ['apispecifications', 'realms'])
      demand(await plane().request({ method: 'DELETE', path: `${OF_SHOP}/${kind}` }))
    await eventually(async () => {
      const page = (await operator.page('/status')) as { readonly resources: readonly object[] }
      const left = page.resources.filter((each) => 'namespace' in each && each.namespace === 'shop')
      if (left.length > 0) throw new Error('not everything is deleted')
    }, PATIENCE)
  })

  const OF_SHOP = '/apis/gateway.svc.dev/v1alpha1/namespaces/shop'

  let files = 0
  const write = async (...objects: readonly object[]): Promise<string> => {
    const path = join(directory.path, `files-${(files += 1)}`)
    await mkdir(path)
    // A manifest of several lines: places are worth reading.
    const texts = objects.map((object) => JSON.stringify(object, null, 2))
    await writeFile(join(path, 'all.yaml'), texts.join('\n---\n'))
    return path
  }

  const run = (...argv: readonly string[]): Promise<SvcRun> => svc([...argv, '--kubeconfig', owner])

  const stored = async (path: string): Promise<Readonly<Record<string, unknown>> | undefined> => {
    const response = await plane().request({ path: `${OF_SHOP}/${path}` })
    return response.status === 404
      ? undefined
      : (demand(response).json() as Readonly<Record<string, unknown>>)
  }

  it('applies, waits until it is served, and changes nothing the second time', async () => {
    const path = await write(documentObject('shop', 'orders'), realmObject('shop'))
    const first = await run('apply', path)
    expect(first).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/2 created, 0 configured, 0 unchanged; 2 of 2 served\n$/),
    })
    const [realm, document, ...served] = first.stdout.split('\n')
    expect([realm, document]).toEqual([
      'Realm shop/shop created',
      'ApiSpecification shop/orders created',
    ])
    // As it comes, whichever is first.
    expect(served.toSorted()).toEqual([
      '',
      'ApiSpecification shop/orders is served by 1/1 gateways',
      'Realm shop/shop is ready',
    ])
    expect(await gateway.get('shop.test', '/orders/x')).toEqual({ status: 200, text: '"orders"' })
    const again = await run('apply', path)
    expect(again.stdout).toContain('ApiSpecification shop/orders unchanged\n')
    expect(again.stderr).toBe('0 created, 0 configured, 2 unchanged; 2 of 2 served\n')
    const status = await run('status')
    expect(status).toMatchObject({ code: 0, stderr: '1 API, 1 realm: all served\n' })
    expect(status.stdout).toMatch(/shop\/orders +shop\.test +com\.shop +1 +1\/1 +yes +Ready/)
  })

  it('changes nothing where a file is wrong, and says which field of which line', async () => {
    const wrong = documentObject('shop', 'wrong', { more: { hsot: 'x', host: 7 } })
    const path = await write(realmObject('shop'), wrong)
    const { code, stdout, stderr } = await run('apply', path)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/all\.yaml:\d+:\d+ ApiSpecification shop\/wrong \/spec\/document\/host /)
    expect(stderr).toContain('nothing was applied')
    expect(await stored('realms/shop')).toBeUndefined()
  })

  it('refuses other kinds, documents without a resource, and another namespace', async () => {
    const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'a' } }
    const plain = (documentObject('shop', 'a') as { readonly spec: { readonly document: object } })
      .spec.document
    const path = await write(deployment, plain, realmObject('other'))
    const { code, stdout, stderr } = await run('apply', '-n', 'shop', path)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('Deployment (apps/v1) is not applied by svc')
    expect(stderr).toContain('a document without a resource around it')
    expect(stderr).toContain('is of namespace other, but --namespace is shop')
  })

  it('names the manager and the field of a conflict, and takes it over only with the flag for that', async () => {
    const byKubectl = JSON.stringify(realmObject('shop', { callTimeout: 7000 }))
    await plane().kubectl(['apply', '--server-side', '--field-manager', 'argocd', '-f', '-'], {
      input: byKubectl,
    })
    const path = await write(realmObject('shop', { callTimeout: 5000 }))
    const refused = await run('apply', path)
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain('  .spec.callTimeout is set by argocd\n')
    expect(refused.stderr).toContain('--force-conflicts')
    expect(await stored('realms/shop')).toMatchObject({ spec: { callTimeout: 7000 } })
    const forced = await run('apply', '--force-conflicts', path)
    expect(forced).toMatchObject({ code: 0, stdout: expect.stringContaining('configured') })
    expect(await stored('realms/shop')).toMatchObject({ spec: { callTimeout: 5000 } })
  })

  it('changes nothing where admission refuses one of several', async () => {
    await plane().apply(policyObjects())
    const path = await write(
      realmObject('shop'),
      documentObject('shop', 'frozen', { annotations: { frozen: 'yes' } }),
    )
    const { stderr } = await eventually(async () => {
      const refused = await run('apply', path, '--no-wait')
      expect(refused).toMatchObject({ code: 2, stdout: '' })
      return refused
    }, PATIENCE)
    expect(stderr).toContain('no frozen documents')
    expect(stderr).toContain('nothing was applied')
  })

  it('says which right is missing, and whom to ask for', async () => {
    const editor = await plane().serviceAccount('shop', 'editor')
    await plane().apply([roleBindingObject('shop', 'editor', 'edit')])
    const path = await write(realmObject('shop'), documentObject('shop', 'orders'))
    const { code, stderr } = await svc(['apply', path, '--kubeconfig', editor])
    expect(code).toBe(2)
    expect(stderr).toContain('cannot patch resource "realms"')
    expect(stderr).toContain('the ClusterRole admin has them')
    expect(stderr).toContain('nothing was applied')
    expect(await stored('apispecifications/orders')).toBeUndefined()
    const status = await svc(['status', '-A', '--kubeconfig', editor])
    expect(status).toMatchObject({ code: 2, stdout: '' })
    expect(status.stderr).toContain('cannot list resource')
  })

  it('says that the API server is away, and refuses credentials once for all objects', async () => {
    const text = await readFile(owner, 'utf8')
    const away = join(directory.path, 'away')
    await writeFile(away, text.replaceAll(plane().server, `https://127.0.0.1:${await freePort()}`))
    const stranger = join(directory.path, 'stranger')
    await writeFile(stranger, text.replace(/"token": "[^"]+"/, '"token": "nobody"'))
    const path = await write(realmObject('shop'), documentObject('shop', 'orders'))
    for (const [kubeconfig, words] of [
      [
        away,
        /^svc \w+: https:\/\/127\.0\.0\.1:\d+: the API server is unreachable: connection refused$/m,
      ],
      [stranger, /^svc \w+: the API server at https:\S+ does not accept the credentials/m],
    ] as const)
      for (const command of [['apply', path], ['status'], ['diff', path]]) {
        const { code, stdout, stderr } = await svc([...command, '--kubeconfig', kubeconfig])
        expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
        expect(stderr).toMatch(words)
      }
  })

  it('prints in a dry run what would change, and changes nothing', async () => {
    const realm = realmObject('shop')
    const guarded = documentObject('shop', 'orders', { more: { security: { type: 'basic' } } })
    const before = await write(realm, guarded)
    const created = await run('apply', '--dry-run', before)
    expect(created).toMatchObject({ code: 1 })
    expect(created.stdout).toContain('ApiSpecification shop/orders created (dry run)\n')
    expect(created.stdout).toContain(
      'changed   + host shop.test\nchanged   + realm com.shop\nchanged   + GET shop.test/orders/x  action static',
    )
    expect(await stored('realms/shop')).toBeUndefined()
    expect(await run('apply', before)).toMatchObject({ code: 0 })
    expect(await run('apply', '--dry-run', before)).toMatchObject({ code: 0 })
    const open = await write(documentObject('shop', 'orders'))
    for (const command of [['apply', '--dry-run'], ['diff']]) {
      const loosened = await run(...command, open)
      expect(loosened).toMatchObject({ code: 3 })
      expect(loosened.stdout).toMatch(/^loosened +~ GET .* security basic → none$/m)
    }
    expect(await stored('apispecifications/orders')).toMatchObject({
      metadata: { generation: 1 },
    })
  })

  it('compares WebSocket routes by the Realm that the cluster has', async () => {
    const realm = realmObject('shop', { router: { url: 'ws://127.0.0.1:1' } })
    const path = await write(realm, documentObject('shop', 'orders'))
    expect(await run('apply', '--no-wait', path)).toMatchObject({ code: 0 })
    const alone = await write(documentObject('shop', 'orders'))
    expect(await run('diff', alone)).toMatchObject({ code: 0, stdout: '' })
    const without = await write(realmObject('shop'))
    const removed = await run('diff', without)
    expect(removed).toMatchObject({ code: 4 })
    expect(removed.stdout).toMatch(/^breaking +- GET shop\.test\/orders\/ws /m)
  })

  it('waits no longer than its flag says, and says why something is not served', async () => {
    const path = await write(documentObject('shop', 'orders', { realm: 'com.nowhere' }))
    // The operator of a busy machine may have said nothing of it within a second: then it has the next time.
    const { code, stderr } = await eventually(async () => {
      const waited = await run('apply', '--timeout', '1', path)
      expect(waited.stdout).toMatch(
        /ApiSpecification shop\/orders is not served: RealmNotFound: .*com\.nowhere/,
      )
      return waited
    }, PATIENCE)
    expect(code).toBe(1)
    expect(stderr).toContain('warning: ApiSpecification shop/orders: not in service yet')
    expect(stderr).toContain('0 of 1 served')
    const status = await run('status')
    expect(status).toMatchObject({ code: 1, stderr: '1 API, 0 realms: 1 not served\n' })
    expect(status.stdout).toContain('ApiSpecification shop/orders is not served: RealmNotFound')
  })

  it('names the field that only the whole cluster shows to be wrong', async () => {
    const first = await write(realmObject('shop'), documentObject('shop', 'orders'))
    expect(await run('apply', first)).toMatchObject({ code: 0 })
    const second = await write(documentObject('shop', 'copy', { id: 'orders' }))
    const { code, stdout } = await run('apply', second)
    expect(code).toBe(1)
    expect(stdout).toMatch(
      /copy is not served: Conflicted\n {2}\S+all\.yaml:\d+:\d+ \/spec\/document\/\S+ /,
    )
    expect(await run('diff', second)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('left out: '),
    })
  })

  it('applies a namespace with what is in it', async () => {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'fresh' } }
    const path = await write(
      documentObject('fresh', 'fresh-orders'),
      secretObject('fresh', 'keys', { a: 'hunter2' }),
      realmObject('fresh'),
      namespace,
    )
    const admin = ['--kubeconfig', plane().kubeconfig]
    const dry = await svc(['apply', '--dry-run', path, ...admin])
    expect(dry.code).toBe(1)
    expect(dry.stdout).toContain('Realm fresh/fresh created, not checked by the cluster')
    const applied = await svc(['apply', path, ...admin])
    expect(applied).toMatchObject({ code: 0 })
    expect(applied.stdout).toMatch(/^Namespace fresh created\nSecret fresh\/keys created\n/)
    expect(`${dry.stdout}${dry.stderr}${applied.stdout}${applied.stderr}`).not.toContain('hunter2')
  })

  it('tells the status by name, of the operator, of a gateway, and for programs', async () => {
    const path = await write(realmObject('shop'), documentObject('shop', 'orders'))
    expect(await run('apply', path)).toMatchObject({ code: 0 })
    expect((await run('status', 'realm/shop')).stderr).toBe('0 APIs, 1 realm: all served\n')
    const unknown = await run('status', 'ordres')
    expect(unknown).toMatchObject({ code: 1 })
    expect(unknown.stderr).toContain(
      "no ApiSpecification or Realm 'ordres' in namespace shop; did you mean 'orders'?",
    )
    const { stdout } = await run('status', 'orders', '-o', 'json')
    expect(JSON.parse(stdout)).toMatchObject({
      resources: [{ kind: 'ApiSpecification', name: 'orders', gateways: '1/1', isServed: true }],
    })
    const ofOperator = await svc(['status', operator.url])
    expect(ofOperator.stdout).toMatch(/shop\/orders +shop\.test.* yes /)
    expect(ofOperator.stdout).toMatch(/gw-1\S* +\w+ +yes /)
    const ofGateway = await svc(['status', gateway.gateway.management, 'orders'])
    expect(ofGateway).toMatchObject({ code: 0, stderr: '1 API, 0 realms: all served\n' })
    expect(await run('status', '-n', 'other')).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('cannot list resource'),
    })
  })
})

/** Documents with the annotation `frozen` are refused. */
const policyObjects = (): readonly object[] => [
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'frozen' },
    spec: {
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: ['gateway.svc.dev'],
            apiVersions: ['*'],
            operations: ['CREATE', 'UPDATE'],
            resources: ['apispecifications'],
          },
        ],
      },
      validations: [
        {
          expression:
            "!has(object.metadata.annotations) || !('frozen' in object.metadata.annotations)",
          message: 'no frozen documents',
        },
      ],
    },
  },
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name: 'frozen' },
    spec: { policyName: 'frozen', validationActions: ['Deny'] },
  },
]
