import { describe, expect, it } from '@jest/globals'
import type { Value, ValueMap } from '../../../language/expression/value.ts'
import { SECRET_NAMES } from '../../../operator/certificates/certificate-names.ts'
import { crdNames } from '../../../operator/resource/crd.ts'
import {
  clusterRoles,
  DATA_PLANE_SECRET,
  DUTIES,
  OPERATOR_SECRETS,
  REALM_KEYS_SECRET,
  SECRET_READER,
} from '../../../operator/resource/roles.ts'
import {
  grantCommand,
  grantObject,
  ownSecretCommand,
  rolesFor,
} from '../../../operator/resource/roles-for.ts'

const ACCOUNT = { serviceAccount: 'op', operatorNamespace: 'gateways' }

/** `role in namespace`, or `role everywhere`. */
const bindingsOf = (objects: readonly ValueMap[]): readonly string[] =>
  objects.flatMap((object) => {
    const { namespace } = object['metadata'] as { readonly namespace?: string }
    const { roleRef } = object as { readonly roleRef?: { readonly name: string } }
    if (roleRef === undefined) return []
    return [
      namespace === undefined ? `${roleRef.name} everywhere` : `${roleRef.name} in ${namespace}`,
    ]
  })

const CLUSTER = ['namespace-reader', 'crd-reader', 'webhook-configurer', 'webhook-remover'].map(
  (name) => `svc-gateway-${name} everywhere`,
)

describe('the roles of an operator', () => {
  it('of all namespaces: Secrets of its own by name, in its namespace alone', () => {
    expect([...bindingsOf(rolesFor({ ...ACCOUNT, namespaces: 'all' }))].sort()).toEqual(
      [
        ...CLUSTER,
        'svc-gateway-operator in gateways',
        'svc-gateway-certificate-writer in gateways',
        'svc-gateway-resource-reader everywhere',
        'svc-gateway-status-writer everywhere',
        'svc-gateway-service-reader everywhere',
        'svc-gateway-pod-reader everywhere',
        'svc-gateway-event-writer everywhere',
      ].sort(),
    )
  })

  it('of a list of namespaces: nothing elsewhere but pods of the shared pool', () => {
    const namespaces = ['shop', 'bank', 'shop']
    const options = { ...ACCOUNT, namespaces, dataPlaneNamespaces: ['edge'] }
    const inBoth = ['resource-reader', 'status-writer', 'service-reader'].flatMap((name) =>
      ['shop', 'bank'].map((namespace) => `svc-gateway-${name} in ${namespace}`),
    )
    const inThree = ['pod-reader', 'event-writer'].flatMap((name) =>
      ['shop', 'bank', 'edge'].map((namespace) => `svc-gateway-${name} in ${namespace}`),
    )
    expect([...bindingsOf(rolesFor(options))].sort()).toEqual(
      [
        ...CLUSTER,
        ...inBoth,
        ...inThree,
        'svc-gateway-operator in gateways',
        'svc-gateway-certificate-writer in edge',
      ].sort(),
    )
  })

  it('with sidecars: also the configuration of what adds them', () => {
    const names = bindingsOf(rolesFor({ ...ACCOUNT, namespaces: 'all', injection: true }))
    expect(names).toContain('svc-gateway-injection-configurer everywhere')
  })

  it('two operators take nothing from each other', () => {
    const names = (serviceAccount: string): readonly string[] =>
      rolesFor({ ...ACCOUNT, serviceAccount, namespaces: 'all' })
        .filter((object) => Object.hasOwn(object, 'roleRef'))
        .map((object) => JSON.stringify(object['metadata']))
    const [first, second] = [new Set(names('a')), names('b')]
    expect(second.filter((name) => first.has(name))).toEqual([])
  })

  it('no role has a wildcard, and none writes a spec', () => {
    const text = JSON.stringify(DUTIES)
    expect(text).not.toContain('*')
    const writing = DUTIES.flatMap(({ rules }) => rules).filter(({ verbs }) =>
      verbs.some((verb) => !['get', 'list', 'watch'].includes(verb)),
    )
    expect(writing.flatMap(({ resources }) => resources)).toEqual([
      'apispecifications/status',
      'realms/status',
      'events',
      'validatingwebhookconfigurations',
      'mutatingwebhookconfigurations',
      'validatingwebhookconfigurations',
      'mutatingwebhookconfigurations',
      'secrets',
      'secrets',
      // Of the account that uninstalls.
      'secrets',
      'validatingwebhookconfigurations',
      'mutatingwebhookconfigurations',
      'apispecifications/status',
      'realms/status',
      'secrets',
      'leases',
    ])
  })

  it('every ClusterRole has a name of its own', () => {
    const names = clusterRoles().map((role) => (role['metadata'] as Record<string, Value>)['name'])
    expect(new Set(names).size).toBe(names.length)
  })

  it('names what the other rooms name', () => {
    expect([...OPERATOR_SECRETS, DATA_PLANE_SECRET].sort()).toEqual(
      [...Object.values(SECRET_NAMES), REALM_KEYS_SECRET].sort(),
    )
    const readers = DUTIES.filter(({ name }) => name === 'svc-gateway-crd-reader')
    expect(readers.map(({ rules }) => rules[0]?.resourceNames)).toEqual([crdNames()])
  })

  it.each([
    [
      true,
      'kubectl create role svc-gateway-secret-creator --namespace=gateways --verb=create --resource=secrets' +
        ' && kubectl create rolebinding svc-gateway-secret-creator --namespace=gateways' +
        ' --role=svc-gateway-secret-creator --serviceaccount=gateways:op',
    ],
    [
      false,
      'kubectl create role svc-gateway-realm-keys-reader --namespace=gateways --verb=get,update' +
        ' --resource-name=svc-gateway-realm-keys --resource=secrets' +
        ' && kubectl create rolebinding svc-gateway-realm-keys-reader --namespace=gateways' +
        ' --role=svc-gateway-realm-keys-reader --serviceaccount=gateways:op',
    ],
  ])('what lets it have a Secret of its own (creating: %s)', (creating, command) => {
    expect(ownSecretCommand(ACCOUNT, REALM_KEYS_SECRET, { creating })).toBe(command)
  })

  it('what the owner of a namespace gives', () => {
    expect(grantCommand(ACCOUNT, SECRET_READER, 'shop')).toBe(
      'kubectl create rolebinding svc-gateway-secret-reader --namespace=shop ' +
        '--clusterrole=svc-gateway-secret-reader --serviceaccount=gateways:op',
    )
    expect(grantObject(ACCOUNT, SECRET_READER, 'shop')).toMatchObject({
      kind: 'RoleBinding',
      metadata: { name: 'svc-gateway-secret-reader', namespace: 'shop' },
      roleRef: { kind: 'ClusterRole', name: 'svc-gateway-secret-reader' },
      subjects: [{ kind: 'ServiceAccount', name: 'op', namespace: 'gateways' }],
    })
  })
})
