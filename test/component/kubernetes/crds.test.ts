// Our kinds on a real API server: what it refuses, keeps, defaults, prints and explains, and who may touch them.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { isMap, type Value, type ValueMap } from '../../../language/expression/value.ts'
import { isGranted } from '../../support/kubernetes/access-review.ts'
import { demand } from '../../support/kubernetes/api-client.ts'
import type { ControlPlane } from '../../support/kubernetes/control-plane.ts'
import { describeWithKubernetes } from '../../support/kubernetes/describe-with-kubernetes.ts'
import type { KubectlResult } from '../../support/kubernetes/kubectl.ts'
import { eventually } from '../../support/eventually.ts'
import { kstatus } from '../../support/kstatus.ts'

const CRDS = join(import.meta.dirname, '../../../crds')
const API = '/apis/gateway.svc.dev/v1alpha1/namespaces/default'
const HEAD = { apiVersion: 'gateway.svc.dev/v1alpha1' }

const specification = (name: string, spec: object): object => ({
  ...HEAD,
  kind: 'ApiSpecification',
  metadata: { name, namespace: 'default' },
  spec,
})
const realm = (name: string, spec: object): object => ({
  ...HEAD,
  kind: 'Realm',
  metadata: { name, namespace: 'default' },
  spec,
})
const document = (id: string): object => ({ id, host: '_', realm_uri: 'com.shop', versions: {} })
const reference = { configMap: { name: 'a', key: 'document.json' } }
const secret = { secretRef: { name: 's', key: 'k' } }

/** 500 KB, with what an API server or a client could lose on the way. */
const LARGE = {
  ...document('large'),
  meta: { nothing: null, list: [null, { deep: null }], constructor: 'kept' },
  unheard_of: [1, null],
  versions: {
    v1: {
      base_path: '/large',
      paths: Object.fromEntries(
        Array.from({ length: 2500 }, (_, i) => [
          `/path-${i}`,
          { get: { action: { type: 'static', body: { text: 'x'.repeat(150), none: null } } } },
        ]),
      ),
    },
  },
}

const BAD: readonly {
  readonly name: string
  readonly object: object
  readonly words: string
}[] = [
  {
    name: 'both',
    object: specification('both', { document: document('a'), documentFrom: reference }),
    words:
      'spec.documentFrom: Invalid value: document and documentFrom exclude each other: keep one',
  },
  {
    name: 'neither',
    object: specification('neither', {}),
    words: 'give the API in document, or say in documentFrom which ConfigMap holds it',
  },
  {
    name: 'no spec',
    object: { ...HEAD, kind: 'ApiSpecification', metadata: { name: 'a', namespace: 'default' } },
    words: 'spec: Required value',
  },
  {
    name: 'an id that is a number',
    object: specification('number', { document: { id: 5 } }),
    words: '.spec.document.id: expected string',
  },
  {
    name: 'an empty id',
    object: specification('empty', { document: { id: '' } }),
    words: 'spec.document.id in body should be at least 1 chars long',
  },
  {
    name: 'a document that is a list',
    object: specification('list', { document: [] }),
    words: '.spec.document: expected map',
  },
  {
    name: 'half a ConfigMap',
    object: specification('half', { documentFrom: { configMap: { name: 'a' } } }),
    words: 'spec.documentFrom.configMap.key: Required value',
  },
  {
    name: 'a variable without its key',
    object: specification('variable', {
      document: document('a'),
      variablesFrom: [{ name: 'token', secretRef: { name: 's' } }],
    }),
    words:
      'spec.variablesFrom[0]: Invalid value: give name and secretRef.key, or neither to take every key of the Secret',
  },
  {
    name: 'too many variables',
    object: specification('variables', {
      document: document('a'),
      variablesFrom: new Array(65).fill({ secretRef: { name: 's' } }),
    }),
    words: 'must have at most 64 items',
  },
  {
    name: 'an operator of selectors that there is not',
    object: specification('selector', {
      document: document('a'),
      dataPlaneSelector: { matchExpressions: [{ key: 'tier', operator: 'Like', values: ['e'] }] },
    }),
    words: 'Unsupported value: "Like": supported values: "In", "NotIn", "Exists", "DoesNotExist"',
  },
  {
    name: 'a misspelt field',
    object: specification('misspelt', { document: document('a'), documnet: {} }),
    words: '.spec.documnet: field not declared in schema',
  },
  { name: 'no uri', object: realm('no-uri', {}), words: 'spec.uri: Required value' },
  {
    name: 'a uri that is too long',
    object: realm('long', { uri: 'x'.repeat(256) }),
    words: 'may not be more than 255',
  },
  {
    name: 'a secret in clear',
    object: realm('clear', { uri: 'a', callbackSecret: 'hush' }),
    words: '.spec.callbackSecret: expected map',
  },
  {
    name: 'a secret under another name',
    object: realm('other', { uri: 'a', signingKeys: [{ value: 'hush' }] }),
    words: '.spec.signingKeys[0].value: field not declared in schema',
  },
  {
    name: 'one of',
    object: realm('one-of', { uri: 'a', router: { auth: { method: 'magic' } } }),
    words:
      'Unsupported value: "magic": supported values: "anonymous", "ticket", "wampcra", "cryptosign"',
  },
  {
    name: 'zero milliseconds',
    object: realm('zero', { uri: 'a', callTimeout: 0 }),
    words: 'should be greater than or equal to 1',
  },
  {
    name: 'a selector that nothing asks for',
    object: realm('unasked', { uri: 'a', allowedNamespaces: { selector: {} } }),
    words: 'selector has no effect without from: Selector',
  },
  {
    name: 'a selector that is left out',
    object: realm('left-out', { uri: 'a', allowedNamespaces: { from: 'Selector' } }),
    words: 'from: Selector needs a selector; from: All admits every namespace',
  },
  {
    name: 'a field of the management API',
    object: realm('snake', { uri: 'a', call_timeout: 5 }),
    words: '.spec.call_timeout: field not declared in schema',
  },
]

const CHANGES: readonly {
  readonly name: string
  readonly before: object
  readonly after: object
  /** Undefined: it is taken. */
  readonly words?: string
}[] = [
  {
    name: 'another id',
    before: specification('changed-id', { document: document('one') }),
    after: specification('changed-id', { document: document('two') }),
    words: 'spec.document.id: Invalid value: the id of a document never changes: create another',
  },
  {
    name: 'no id any more',
    before: specification('gone-id', { document: document('three') }),
    after: specification('gone-id', { document: { host: '_' } }),
    words: 'the id of a document never changes',
  },
  {
    name: 'an id at last',
    before: specification('late-id', { document: { host: '_' } }),
    after: specification('late-id', { document: document('four') }),
  },
  {
    name: 'the document moves into a ConfigMap',
    before: specification('moved', { document: document('five') }),
    after: specification('moved', { documentFrom: reference }),
  },
  {
    name: 'another host',
    before: specification('host', { document: document('six') }),
    after: specification('host', { document: { ...document('six'), host: 'other.test' } }),
  },
  {
    name: 'another uri',
    before: realm('changed-uri', { uri: 'com.one' }),
    after: realm('changed-uri', { uri: 'com.two' }),
    words: 'the uri of a Realm never changes: documents name it',
  },
  {
    name: 'another description',
    before: realm('described', { uri: 'com.three' }),
    after: realm('described', { uri: 'com.three', description: 'x' }),
  },
  {
    name: 'another class of a document',
    before: specification('classed', { document: document('seven') }),
    after: specification('classed', { document: document('seven'), gatewayClassName: 'other' }),
  },
  {
    name: 'another class of a Realm',
    before: realm('classed', { uri: 'com.four' }),
    after: realm('classed', { uri: 'com.four', gatewayClassName: 'other' }),
  },
]

const EXPLAINED: readonly (readonly [string, string])[] = [
  ['apispec', 'An HTTP API as one document: hosts and paths'],
  ['apispec.spec', 'Where the document is, if it does not stand here'],
  ['apispec.spec.document', 'client-side apply drops what is null'],
  ['apispec.spec.document.host', 'Host that the API answers to'],
  ['apispec.spec.documentFrom', 'JSON in data, or gzip of it in binaryData'],
  ['apispec.spec.documentFrom.configMap.key', 'Key in its data.'],
  ['apispec.spec.dataPlaneSelector', 'the shared pool when absent'],
  ['apispec.spec.variablesFrom.secretRef', 'Secret of the same namespace.'],
  ['apispec.status.conditions', 'metadata.generation that was validated'],
  ['apispec.status.errors', 'JSON pointer (RFC 6901) into the resource.'],
  ['realm', 'A named space of users'],
  ['realm.spec.allowedNamespaces', 'Same: the namespace of the Realm.'],
  ['realm.spec.users.passwordHash', 'Everyone who may read the Realm reads what stands here as'],
  ['realm.spec.info.oidcProviders.clientSecret', 'Client secret at the provider.'],
]

interface Applied {
  readonly ok: boolean
  readonly message: string
}

const TAKEN: Applied = { ok: true, message: '' }

await describeWithKubernetes('our kinds', (plane) => {
  /** As kubectl applies, with its words, and many times faster. */
  const apply = async (
    object: object,
    fieldManager = 'kubectl',
    force = false,
  ): Promise<Applied> => {
    const { kind, metadata } = object as {
      readonly kind: string
      readonly metadata: { name: string }
    }
    const query = `fieldManager=${fieldManager}&force=${force}&fieldValidation=Strict`
    const response = await plane().request({
      method: 'PATCH',
      path: `${API}/${kind.toLowerCase()}s/${metadata.name}?${query}`,
      contentType: 'application/apply-patch+yaml',
      body: object,
    })
    const { message = '' } = response.json() as { readonly message?: string }
    return { ok: response.status < 300, message }
  }
  const get = async (path: string): Promise<ValueMap> => {
    const value: unknown = demand(await plane().request({ path: `${API}/${path}` })).json()
    return isMap(value) ? value : {}
  }
  const kubectl = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await plane().kubectl(args)
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
    return stdout
  }

  beforeAll(async () => {
    for (const file of ['apispecifications.yaml', 'realms.yaml', 'rbac/roles.yaml']) {
      await plane().apply(await readFile(join(CRDS, file), 'utf8'))
    }
  }, 120_000)

  it('are established, and nothing is wrong with their schemas', async () => {
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    const { items } = demand(await plane().request({ path })).json() as {
      readonly items: readonly {
        readonly status: { readonly conditions: readonly { type: string; status: string }[] }
      }[]
    }
    const told = items.map(({ status }) =>
      Object.fromEntries(status.conditions.map(({ type, status: is }) => [type, is])),
    )
    const good = { NamesAccepted: 'True', Established: 'True' }
    expect(told).toEqual([good, good])
  })

  it('leave `kubectl get svc` to Services', async () => {
    await apply(specification('beside', { document: document('beside') }))
    expect(await kubectl('get', 'svc', '-o', 'name')).toBe('service/kubernetes\n')
    // Established, and not yet told of everywhere.
    await eventually(
      async () => {
        const category = await kubectl('get', 'svc-gateway', '-o', 'name')
        expect(category).toContain('apispecification.gateway.svc.dev/beside')
      },
      { withinMs: 15_000, everyMs: 200 },
    )
    expect(await kubectl('get', 'apispec', 'beside', '-o', 'name')).toContain('beside')
  })

  it('kubectl explain tells what a field is for', async () => {
    const told = await Promise.all(
      // Lines are wrapped where the terminal ends.
      EXPLAINED.map(async ([path]) =>
        // What the server publishes of a kind follows the kind.
        (await eventually(() => kubectl('explain', path))).replaceAll(/\s+/g, ' '),
      ),
    )
    for (const [i, [, words]] of EXPLAINED.entries()) expect(told[i]).toContain(words)
  })

  it.each(BAD)('refuses $name', async ({ object, words }) => {
    const { ok, message } = await apply(object)
    expect(message).toContain(words)
    expect(ok).toBe(false)
  })

  it.each(CHANGES)('$name', async ({ before, after, words }) => {
    expect(await apply(before)).toEqual(TAKEN)
    const applied = await apply(after)
    expect(applied.message).toContain(words ?? '')
    expect(applied.ok).toBe(words === undefined)
  })

  it('drops an unknown field of the envelope where the client does not ask for warnings', async () => {
    const object = specification('pruned', { document: document('pruned'), documnet: {} })
    const path = `${API}/apispecifications?fieldValidation=Ignore`
    demand(await plane().request({ method: 'POST', path, body: object }))
    const { spec } = await get('apispecifications/pruned')
    expect(spec).toEqual({ document: document('pruned'), gatewayClassName: 'svc' })
  })

  it('keeps 500 KB to the last null, and under 2 KB of managed fields', async () => {
    expect(JSON.stringify(LARGE).length).toBeGreaterThan(500_000)
    const input = JSON.stringify(specification('large', { document: LARGE }))
    const applied = await plane().kubectl(['apply', '--server-side', '-f', '-'], { input })
    expect(applied.stderr).toBe('')
    const { spec, metadata } = await get('apispecifications/large')
    expect((spec as ValueMap)['document']).toEqual(LARGE)
    const { managedFields } = metadata as { readonly managedFields: readonly object[] }
    expect(JSON.stringify(managedFields).length).toBeLessThan(2048)
    expect(managedFields).toHaveLength(1)
  })

  it('takes a document whole: no half of it stays from another applier', async () => {
    await apply(specification('whole', { document: { ...document('whole'), meta: { a: 1 } } }))
    const other = specification('whole', { document: { ...document('whole'), meta: { b: 2 } } })
    const { message } = await apply(other, 'other')
    expect(message).toContain('conflict with "kubectl": .spec.document')
    expect(await apply(other, 'other', true)).toEqual(TAKEN)
    const { spec } = await get('apispecifications/whole')
    expect(spec).toMatchObject({ document: { meta: { b: 2 } } })
    expect(JSON.stringify(spec)).not.toContain('"a"')
  })

  it('fills in defaults', async () => {
    await apply(specification('defaulted', { document: document('defaulted') }))
    await apply(realm('defaulted', { uri: 'com.defaulted' }))
    await apply(realm('selecting', { uri: 'com.selecting', allowedNamespaces: {} }))
    expect((await get('apispecifications/defaulted'))['spec']).toMatchObject({
      gatewayClassName: 'svc',
    })
    const same = { allowedNamespaces: { from: 'Same' }, gatewayClassName: 'svc' }
    expect((await get('realms/defaulted'))['spec']).toMatchObject(same)
    expect((await get('realms/selecting'))['spec']).toMatchObject(same)
  })

  it('takes secrets by reference, and hashes either way', async () => {
    const users = [
      { username: 'carol', passwordHash: '$scrypt$ln=14,r=8,p=1$c2FsdA$aGFzaA' },
      { username: 'dave', passwordHash: secret, meta: { desk: null } },
    ]
    const spec = { uri: 'com.secrets', users, callbackSecret: secret, signingKeys: [secret] }
    expect(await apply(realm('secrets', spec))).toEqual(TAKEN)
    expect((await get('realms/secrets'))['spec']).toMatchObject(spec)
  })

  it.each([
    ['apispecifications', specification('fresh', { document: document('fresh') }), 4],
    ['realms', realm('fresh', { uri: 'com.fresh' }), 3],
  ])('%s: what no operator has seen is not healthy', async (plural, object, count) => {
    await apply(object)
    const fresh = await get(`${plural}/fresh`)
    expect(kstatus(fresh)).toBe('InProgress')
    const { conditions } = fresh['status'] as { readonly conditions: readonly ValueMap[] }
    expect(conditions).toHaveLength(count)
    expect(
      new Set(conditions.map(({ status, reason }) => `${text(status)}/${text(reason)}`)),
    ).toEqual(new Set(['Unknown/Pending']))
    expect(JSON.stringify(conditions)).toContain('"1970-01-01T00:00:00Z"')
  })

  it('kubectl wait waits for an operator, and believes no condition of an older generation', async () => {
    await apply(specification('waiting', { document: document('waiting') }))
    const wait = (timeout: string): Promise<KubectlResult> =>
      plane().kubectl([
        'wait',
        'apispec/waiting',
        '--for=condition=Programmed',
        `--timeout=${timeout}`,
      ])
    // The time of one that must succeed counts from before it has found out what there is to ask.
    expect((await wait('1s')).stderr).toContain('timed out waiting for the condition')
    await setStatus(plane(), 'waiting', 1)
    expect((await wait('20s')).code).toBe(0)
    await apply(specification('waiting', { document: { ...document('waiting'), name: 'x' } }))
    expect((await wait('1s')).code).not.toBe(0)
    expect(kstatus(await get('apispecifications/waiting'))).toBe('InProgress')
    await setStatus(plane(), 'waiting', 2)
    expect((await wait('20s')).code).toBe(0)
    expect(kstatus(await get('apispecifications/waiting'))).toBe('Current')
  })

  it('a status is replaced condition by condition, and what is left out goes', async () => {
    await apply(specification('stalled', { document: document('stalled') }))
    await setStatus(plane(), 'stalled', 1, [condition('Stalled', 'Invalid', 1)])
    expect(kstatus(await get('apispecifications/stalled'))).toBe('Failed')
    await setStatus(plane(), 'stalled', 1)
    const { conditions } = (await get('apispecifications/stalled'))['status'] as {
      readonly conditions: readonly ValueMap[]
    }
    expect(conditions.map(({ type }) => type)).toEqual([
      'Accepted',
      'ResolvedRefs',
      'Programmed',
      'Ready',
    ])
  })

  it('a status holds eight errors and no more', async () => {
    await apply(specification('errors', { document: document('errors') }))
    const error = { code: 'invalid_value', path: '/spec/document/host', message: 'bad' }
    const eight = { errors: new Array(8).fill(error), warnings: [{ ...error, path: '' }] }
    demand(await putStatus(plane(), 'errors', eight))
    const nine = await putStatus(plane(), 'errors', { errors: new Array(9).fill(error) })
    expect(nine.status).toBe(422)
  })

  it('prints what a person looks for', async () => {
    await apply(
      specification('printed', { document: { ...document('com.printed'), host: 'shop.test' } }),
    )
    const names = { id: 'com.printed', host: 'shop.test', realm: 'com.shop' }
    const conditions = ['Programmed', 'Ready'].map((type) => condition(type, type, 1))
    const summary = { ...names, serving: '–', gateways: '2/2' }
    demand(await putStatus(plane(), 'printed', { observedGeneration: 1, conditions, ...summary }))
    const lines = (await kubectl('get', 'apispec', 'printed')).trim().split('\n')
    const cells = lines.map((line) => line.split(/\s{2,}/))
    expect(cells[0]).toEqual([
      'NAME',
      'HOST',
      'REALM',
      'SERVING',
      'GATEWAYS',
      'PROGRAMMED',
      'READY',
      'REASON',
      'AGE',
    ])
    expect(cells[1]?.slice(0, 8)).toEqual([
      'printed',
      'shop.test',
      'com.shop',
      '–',
      '2/2',
      'True',
      'True',
      'Ready',
    ])
    const wide = await kubectl('get', 'apispec', 'printed', '-o', 'wide')
    expect(wide).toContain('com.printed')
    expect(wide).toContain('words of Ready')
    await apply(realm('printed', { uri: 'com.printed' }))
    const realms = (await kubectl('get', 'realm', 'printed')).trim().split('\n')
    expect(realms[0]?.split(/\s{2,}/)).toEqual([
      'NAME',
      'URI',
      'ACCEPTED',
      'READY',
      'REASON',
      'AGE',
    ])
    expect(realms[1]).toMatch(/^printed\s+com\.printed\s+Unknown\s+Unknown\s+Pending/)
  })

  it.each([
    ['apispecifications', 'spec.document.id=com.selected', ['selected']],
    ['apispecifications', 'spec.document.realm_uri=com.selected', ['selected']],
    ['apispecifications', 'spec.document.id=com.nobody', []],
    ['realms', 'spec.uri=com.selected', ['selected']],
  ])('%s are found by %s', async (plural, selector, names) => {
    const own = { ...document('com.selected'), realm_uri: 'com.selected' }
    await apply(specification('selected', { document: own }))
    await apply(realm('selected', { uri: 'com.selected' }))
    // The list is served from a cache.
    await eventually(async () => {
      const { items } = await get(`${plural}?fieldSelector=${encodeURIComponent(selector)}`)
      const found = (items as readonly { readonly metadata: { readonly name: string } }[]).map(
        ({ metadata }) => metadata.name,
      )
      expect(found).toEqual(names)
    })
  })

  it('kubectl finds an id', async () => {
    await apply(specification('found', { document: document('com.found') }))
    const args = ['get', 'apispec', '--field-selector', 'spec.document.id=com.found', '-o', 'name']
    // The list is served from a cache.
    await eventually(async () => {
      expect(await kubectl(...args)).toBe('apispecification.gateway.svc.dev/found\n')
    })
  })

  describe('people of a namespace', () => {
    const people = ['view', 'edit', 'admin'] as const

    beforeAll(async () => {
      await plane().apply([
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
        ...people.map((role) => ({
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'RoleBinding',
          metadata: { name: role, namespace: 'shop' },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
          subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: role }],
        })),
      ])
    }, 60_000)

    it.each([
      ['view', 'get', 'apispecifications', true],
      ['view', 'watch', 'realms', true],
      ['view', 'create', 'apispecifications', false],
      ['view', 'patch', 'realms', false],
      ['edit', 'list', 'realms', true],
      ['edit', 'create', 'apispecifications', true],
      ['edit', 'delete', 'apispecifications', true],
      ['edit', 'patch', 'realms', false],
      ['edit', 'patch', 'apispecifications/status', false],
      ['admin', 'get', 'apispecifications', true],
      ['admin', 'update', 'apispecifications', true],
      ['admin', 'create', 'realms', true],
      ['admin', 'deletecollection', 'realms', true],
      ['admin', 'patch', 'realms/status', false],
    ])('%s: %s %s: %s', async (user, verb, resource, isAllowed) => {
      const [plural = '', subresource = ''] = resource.split('/')
      const access = { user, namespace: 'shop', group: 'gateway.svc.dev', verb, subresource }
      // The controller adds our rules to theirs in its own time.
      await eventually(
        async () => {
          expect(await isGranted(plane(), { ...access, resource: plural })).toBe(isAllowed)
        },
        { withinMs: 15_000, everyMs: 100 },
      )
    })

    it('kubectl auth can-i says so', async () => {
      const canI = ['auth', 'can-i', 'create', 'apispec', '--as=edit', '-n', 'shop']
      await eventually(
        async () => {
          expect(await kubectl(...canI)).toBe('yes\n')
        },
        { withinMs: 15_000 },
      )
    })
  })
})

const text = (value: Value | undefined): string => (typeof value === 'string' ? value : '')

const condition = (type: string, reason: string, observedGeneration: number): object => ({
  type,
  status: 'True',
  reason,
  observedGeneration,
  message: `words of ${type}`,
  lastTransitionTime: '2026-01-31T08:00:00Z',
})

const putStatus = (
  plane: ControlPlane,
  name: string,
  status: object,
): ReturnType<ControlPlane['request']> =>
  plane.request({
    method: 'PATCH',
    path: `${API}/apispecifications/${name}/status?fieldManager=svc-operator&force=true`,
    contentType: 'application/apply-patch+yaml',
    body: { ...HEAD, kind: 'ApiSpecification', metadata: { name }, status },
  })

const setStatus = async (
  plane: ControlPlane,
  name: string,
  observedGeneration: number,
  more: readonly object[] = [],
): Promise<void> => {
  const types = ['Accepted', 'ResolvedRefs', 'Programmed', 'Ready']
  const conditions = types.map((type) => condition(type, type, observedGeneration))
  demand(await putStatus(plane, name, { observedGeneration, conditions: [...conditions, ...more] }))
}
