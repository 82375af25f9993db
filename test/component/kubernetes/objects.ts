// Makes the objects that are applied, as small as they can be, from what a person would write by hand.

import { aSpecification } from '../../support/resources.ts'

const API_VERSION = 'gateway.svc.dev/v1alpha1'

export interface DocumentOptions {
  /** The namespace otherwise. */
  readonly realm?: string
  readonly host?: string | undefined
  /** `/` and the name otherwise. */
  readonly basePath?: string
  /** The name otherwise. */
  readonly id?: string | undefined
  /** Body of the response to a GET by path; `/x` answers with the name otherwise. */
  readonly paths?: Readonly<Record<string, unknown>>
  /** Beside them in the document. */
  readonly more?: object
  /** Beside the document. */
  readonly spec?: object
  readonly annotations?: Readonly<Record<string, string>>
}

/** @example documentObject('shop', 'orders', { paths: { '/x': 'first' } }) */
export const documentObject = (
  namespace: string,
  name: string,
  options: DocumentOptions = {},
): object => ({
  apiVersion: API_VERSION,
  kind: 'ApiSpecification',
  metadata: { name, namespace, annotations: options.annotations ?? {} },
  spec: { document: aDocument(namespace, name, options), ...options.spec },
})

/** The document alone, for a ConfigMap. */
export const aDocument = (
  namespace: string,
  name: string,
  { realm, host, basePath, id, paths = { '/x': name }, more }: DocumentOptions = {},
): object =>
  aSpecification(id ?? name, {
    host: host ?? `${namespace}.test`,
    realm_uri: realm ?? `com.${namespace}`,
    versions: {
      v1: {
        base_path: basePath ?? `/${name}`,
        paths: Object.fromEntries(
          Object.entries(paths).map(([path, body]) => [
            path,
            { get: { action: { type: 'static', body }, response: {} } },
          ]),
        ),
      },
    },
    ...more,
  })

/** Called as its namespace, with the uri that its documents name unless they say otherwise. */
export const realmObject = (namespace: string, spec: object = {}, name = namespace): object => ({
  apiVersion: API_VERSION,
  kind: 'Realm',
  metadata: { name, namespace },
  spec: { uri: `com.${namespace}`, ...spec },
})

export const secretObject = (
  namespace: string,
  name: string,
  stringData: Readonly<Record<string, string>>,
): object => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, stringData })

export const configMapObject = (namespace: string, name: string, data: object): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace },
  ...data,
})

/** An account of that namespace with one of the roles that people have; its kubeconfig is `plane.serviceAccount`. */
export const roleBindingObject = (
  namespace: string,
  account: string,
  clusterRole: 'view' | 'edit' | 'admin',
): object => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'RoleBinding',
  metadata: { name: `${account}-${clusterRole}`, namespace },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: clusterRole },
  subjects: [{ kind: 'ServiceAccount', name: account, namespace }],
})
