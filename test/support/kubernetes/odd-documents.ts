// Makes manifests of documents and their realm from ids, bodies and labels, and reads what their status said from a
// moment on, write by write.

import { aSpecification } from '../resources.ts'
import { demand } from './api-client.ts'
import type { ControlPlane } from './control-plane.ts'

const API_VERSION = 'gateway.svc.dev/v1alpha1'

export const aRealm = (namespace = 'shop', uri = 'com.shop'): object => ({
  apiVersion: API_VERSION,
  kind: 'Realm',
  metadata: { name: uri, namespace },
  spec: { uri },
})

export interface DocumentOptions {
  readonly namespace?: string
  readonly realmUri?: string
  /** Of the pods that it is for; the shared pool when absent. */
  readonly labels?: Readonly<Record<string, string>>
  /** Beside `document`. */
  readonly spec?: object
}

/** Answers `GET /<id>/x` at `shop.test` with `body`. `{{nope}}` as body makes it a bad one. */
export const aDocument = (
  id: string,
  body: unknown,
  { namespace = 'shop', realmUri = 'com.shop', labels, spec = {} }: DocumentOptions = {},
): object => ({
  apiVersion: API_VERSION,
  kind: 'ApiSpecification',
  metadata: { name: id, namespace },
  spec: {
    ...spec,
    ...(labels !== undefined && { dataPlaneSelector: { matchLabels: labels } }),
    document: aSpecification(id, {
      host: `${namespace}.test`,
      realm_uri: realmUri,
      versions: {
        v1: {
          base_path: `/${id}`,
          paths: { '/x': { get: { action: { type: 'static', body }, response: {} } } },
        },
      },
    }),
  },
})

const pathOf = (namespace: string): string => `/apis/${API_VERSION}/namespaces/${namespace}`

/** Changes with every write to it, to its status too. */
export const resourceVersionOf = async (
  plane: ControlPlane,
  name: string,
  namespace = 'shop',
): Promise<string> => {
  const path = `${pathOf(namespace)}/apispecifications/${name}`
  const { metadata } = demand(await plane.request({ path })).json() as {
    readonly metadata: { readonly resourceVersion: string }
  }
  return metadata.resourceVersion
}

interface WatchEvent {
  readonly type: string
  readonly object: {
    readonly metadata: { readonly generation: number }
    readonly status?: {
      readonly conditions?: readonly { readonly type: string; readonly reason: string }[]
    }
  }
}

/**
 * Every reason of a condition that was ever written since a resource version, with the generation that it stood
 * beside: also those that no client saw, as the API server tells what was.
 * @example await reasonsSince(plane, before, { name: 'orders', type: 'Programmed' }) // ['2 Programmed']
 */
export const reasonsSince = async (
  plane: ControlPlane,
  resourceVersion: string,
  { name, type, namespace = 'shop' }: { name: string; type: string; namespace?: string },
): Promise<readonly string[]> => {
  const query = new URLSearchParams({
    watch: 'true',
    resourceVersion,
    timeoutSeconds: '1',
    fieldSelector: `metadata.name=${name}`,
  })
  const path = `${pathOf(namespace)}/apispecifications?${query.toString()}`
  const { text } = demand(await plane.request({ path }))
  const events = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as WatchEvent)
  return events.flatMap(({ object: { metadata, status } }) => {
    const condition = status?.conditions?.find((each) => each.type === type)
    return condition === undefined ? [] : [`${metadata.generation} ${condition.reason}`]
  })
}
