// What is applied in the benchmark of the operator: a realm, and documents of some 5 KB, each of which can be
// edited so that its digest is another one.

import { API_VERSION } from '../../../operator/resource/resource.ts'
import { get, RENDERED_BODY } from '../documents.ts'

export const NAMESPACE = 'shop'

const REALM_URI = 'com.shop'
const PATHS = 12

export const REALM: object = {
  apiVersion: API_VERSION,
  kind: 'Realm',
  metadata: { name: 'shop', namespace: NAMESPACE },
  spec: { uri: REALM_URI },
}

export const nameOf = (index: number): string => `api-${index}`

/** Of the document: what data planes know it by. */
export const idOf = (index: number): string => `shop.api-${index}`

/** @param edit makes it another document */
export const resourceOf = (index: number, edit: number): object => ({
  apiVersion: API_VERSION,
  kind: 'ApiSpecification',
  metadata: { name: nameOf(index), namespace: NAMESPACE },
  spec: { document: documentOf(index, edit) },
})

const documentOf = (index: number, edit: number): object => ({
  id: idOf(index),
  host: `api-${index}.shop.test`,
  realm_uri: REALM_URI,
  variables: { edit, cors: { 'access-control-allow-origin': '*' } },
  defaults: { headers: '{{variables.cors}}' },
  versions: {
    v1: {
      base_path: '/v1',
      paths: Object.fromEntries(
        Array.from({ length: PATHS }, (_, path) => [
          `/resource-${path}/:id`,
          get({
            type: 'static',
            body: { ...RENDERED_BODY, edit: '{{variables.edit}}', path_index: path },
          }),
        ]),
      ),
    },
  },
})
