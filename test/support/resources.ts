// Resources for tests of the operator, made from YAML objects as a source would make them.

import { type KnownMetadata, readResource } from '../../operator/resource/read-resource.ts'
import { API_VERSION, keyOf, type Resource } from '../../operator/resource/resource.ts'
import type { ResourceCache } from '../../operator/resource/resource-source.ts'

/** @example resourceOf('Secret', 'keys', { data: { a: 'YQ==' } }) */
export const resourceOf = (
  kind: Resource['kind'],
  name: string,
  rest: object,
  known: Partial<KnownMetadata> & {
    readonly namespace?: string
    readonly labels?: object
    readonly annotations?: object
  } = {},
): Resource => {
  const { namespace = 'default', labels = {}, annotations = {}, ...metadata } = known
  const apiVersion = kind === 'ApiSpecification' || kind === 'Realm' ? API_VERSION : 'v1'
  const value = { apiVersion, kind, metadata: { name, namespace, labels, annotations }, ...rest }
  const read = readResource(value, {
    uid: `uid-${name}`,
    resourceVersion: '1',
    generation: 1,
    createdAt: 1000,
    ...metadata,
  })
  if (read.result !== 'resource') throw new Error(`no resource: ${JSON.stringify(read)}`)
  return read.resource
}

export const cacheOf = (
  resources: readonly Resource[],
  more: Partial<ResourceCache> = {},
): ResourceCache => ({
  version: 1,
  resources: new Map(resources.map((resource) => [keyOf(resource), resource])),
  notes: [],
  ...more,
})

/** A small valid document. */
export const aSpecification = (id: string, more: object = {}): object => ({
  id,
  host: `${id}.test`,
  realm_uri: 'com.shop',
  versions: {
    v1: {
      base_path: '/v1',
      paths: { '/a': { get: { action: { type: 'static', body: id }, response: {} } } },
    },
  },
  ...more,
})
