// Lists what an API server refuses of an object outside of its spec, which is read from a file without one: unknown
// fields, labels and annotations that are no text, names beyond its rules.

import { childPointer } from '../../base/json-pointer.ts'
import { didYouMean } from '../../base/nearest-name.ts'
import { mapAt, memberAt } from '../../language/expression/members.ts'
import { isMap, type Value, type ValueMap } from '../../language/expression/value.ts'
import type { Problem } from '../../language/problem.ts'
import { API_SPECIFICATION_SPEC } from './api-specification-schema.ts'
import { REALM_SPEC } from './realm-spec-schema.ts'
import type { Kind } from './resource.ts'

/** The most problems of one object: each is located in its file, which takes time in proportion to the object. */
const MAX_PROBLEMS = 100

/**
 * Finds the first 100 problems of an object that could be read. `sops` is what SOPS adds, and takes away before the object is applied.
 * @example strictProblems({ …, metadata: { name: 'a', labels: { version: 1 } } }, 'Realm')[0]?.path // '/metadata/labels/version'
 */
export const strictProblems = (value: ValueMap, kind: Kind): readonly Problem[] => {
  const metadata = mapAt(value, 'metadata')
  return [
    ...unknownFields(value, '', FIELDS[kind], kind),
    ...unknownFields(metadata, '/metadata', METADATA_FIELDS, kind),
    ...nameProblems(metadata, kind),
    ...labelProblems(metadata),
    ...annotationProblems(metadata),
    ...(kind === 'Secret' || kind === 'ConfigMap' ? dataProblems(value, kind) : []),
  ].slice(0, MAX_PROBLEMS)
}

const COMMON = ['apiVersion', 'kind', 'metadata'] as const
const OF_OURS = [...COMMON, 'spec', 'status'] as const

const FIELDS: Readonly<Record<Kind, readonly string[]>> = {
  ApiSpecification: OF_OURS,
  Realm: OF_OURS,
  Namespace: OF_OURS,
  Secret: [...COMMON, 'type', 'data', 'stringData', 'immutable', 'sops'],
  ConfigMap: [...COMMON, 'data', 'binaryData', 'immutable', 'sops'],
}

const METADATA_FIELDS: readonly string[] = [
  'name',
  'namespace',
  'labels',
  'annotations',
  'generateName',
  'finalizers',
  'ownerReferences',
  'creationTimestamp',
  'deletionGracePeriodSeconds',
  'deletionTimestamp',
  'generation',
  'managedFields',
  'resourceVersion',
  'selfLink',
  'uid',
]

/** Fields of `spec`, for a hint when one is written a level too high. */
const SPEC_FIELDS: Readonly<Partial<Record<Kind, readonly string[]>>> = {
  ApiSpecification: Object.keys(API_SPECIFICATION_SPEC.properties),
  Realm: Object.keys(REALM_SPEC.properties),
}

const unknownFields = (
  map: ValueMap,
  pointer: string,
  known: readonly string[],
  kind: Kind,
): readonly Problem[] =>
  Object.keys(map)
    .filter((name) => !known.includes(name))
    .map((name) => {
      const path = childPointer(pointer, name)
      const near = didYouMean(name, known)
      const hint = SPEC_FIELDS[kind]?.includes(name) === true ? `; it belongs under /spec` : near
      return invalid(path, `${path} is not a field of ${kind} objects${hint}`)
    })

/** Finds problems in the name of an object in a namespace; dots separate labels of its name. */
const nameProblems = (metadata: ValueMap, kind: Kind): readonly Problem[] => {
  const [name, namespace] = [memberAt(metadata, 'name'), memberAt(metadata, 'namespace')]
  const label = (text: string): boolean => text.length <= 63 && LABEL.test(text)
  return [
    ...(typeof name !== 'string' || (kind === 'Namespace' ? label(name) : SUBDOMAIN.test(name))
      ? []
      : [
          invalid(
            '/metadata/name',
            kind === 'Namespace'
              ? "the name of a namespace has at most 63 characters of a-z, 0-9 and '-'"
              : "/metadata/name has an empty part, or one with '-' at an end, beside a dot",
          ),
        ]),
    ...(typeof namespace !== 'string' || namespace === '' || label(namespace)
      ? []
      : [
          invalid(
            '/metadata/namespace',
            "the name of a namespace has at most 63 characters of a-z, 0-9 and '-', no dot",
          ),
        ]),
  ]
}

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/

const labelProblems = (metadata: ValueMap): readonly Problem[] =>
  textsIn(metadata, 'labels', (value, path) =>
    value.length <= 63 && LABEL_VALUE.test(value)
      ? []
      : [
          invalid(
            path,
            `${path}: the value of a label has at most 63 letters, digits, '-', '_' and '.', and begins and ends with a letter or digit`,
          ),
        ],
  )

const LABEL_VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/

/** The limit of the API server for keys and values of all annotations together. */
const MAX_ANNOTATION_BYTES = 256 * 1024

const annotationProblems = (metadata: ValueMap): readonly Problem[] => {
  const problems = textsIn(metadata, 'annotations', () => [])
  const bytes = Object.entries(mapAt(metadata, 'annotations')).reduce(
    (sum, [key, value]) =>
      sum + Buffer.byteLength(key) + (typeof value === 'string' ? Buffer.byteLength(value) : 0),
    0,
  )
  if (bytes <= MAX_ANNOTATION_BYTES) return problems
  const path = '/metadata/annotations'
  return [...problems, invalid(path, `${path} has more than 256 KiB in all`)]
}

/** The problems of a map of labels or annotations. An API server reads null as an empty text. */
const textsIn = (
  metadata: ValueMap,
  name: 'labels' | 'annotations',
  check: (value: string, path: string) => readonly Problem[],
): readonly Problem[] => {
  const map = memberAt(metadata, name)
  const pointer = `/metadata/${name}`
  if (map === undefined) return []
  if (!isMap(map)) return [wrongType(pointer, 'must be a map')]
  return Object.entries(map).flatMap(([key, value]) => {
    const path = childPointer(pointer, key)
    return [
      ...(isQualifiedName(key) ? [] : [invalid(path, `${path}: ${KEY_FORM}`)]),
      ...(value === null
        ? []
        : typeof value === 'string'
          ? check(value, path)
          : [noText(path, value)]),
    ]
  })
}

const KEY_FORM =
  "its key is a name of at most 63 letters, digits, '-', '_' and '.', perhaps behind a domain and one '/'"

const isQualifiedName = (key: string): boolean => {
  const [name = '', prefix, ...more] = key.split('/').reverse()
  const isNamed = name.length > 0 && name.length <= 63 && LABEL_VALUE.test(name)
  if (prefix === undefined) return isNamed
  return (
    isNamed && more.length === 0 && prefix.length <= 253 && SUBDOMAIN.test(prefix.toLowerCase())
  )
}

const dataProblems = (value: ValueMap, kind: 'Secret' | 'ConfigMap'): readonly Problem[] => {
  const names = kind === 'Secret' ? ['data', 'stringData'] : ['data', 'binaryData']
  return names.flatMap((name) => {
    const map = memberAt(value, name)
    if (map === undefined) return []
    const pointer = `/${name}`
    if (!isMap(map)) return [wrongType(pointer, 'must be a map')]
    return Object.entries(map).flatMap(([key, each]) =>
      each === null || typeof each === 'string' ? [] : [noText(childPointer(pointer, key), each)],
    )
  })
}

const noText = (path: string, value: Value): Problem => {
  const isScalar = typeof value === 'number' || typeof value === 'boolean'
  const what = isScalar ? `not a ${typeof value}: put it in quotes` : 'not a list or map'
  return wrongType(path, `must be a text, ${what}`)
}

const wrongType = (path: string, words: string): Problem => ({
  code: 'invalid_datatype',
  path,
  message: `${path} ${words}`,
})

const invalid = (path: string, message: string): Problem => ({
  code: 'invalid_value',
  path,
  message,
})
