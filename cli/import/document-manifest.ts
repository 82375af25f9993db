// Turns a document, as a gateway has it loaded, into an ApiSpecification, with a ConfigMap for a large one, and lists
// the variables that a person must fill in because they came from Secrets. Pure.

import { gzipSync } from 'node:zlib'
import { digestOf } from '../../language/wire/digest.ts'
import { isList, isMap, type Value, type ValueMap } from '../../language/expression/value.ts'
import { API_VERSION } from '../../operator/resource/resource.ts'
import { type Manifest, metadataOf, type Place } from './manifest.ts'
import { secretKeys } from './resource-names.ts'

/** The API server takes some 1.5 MB, with everything that it adds. */
const INLINE_MAX_BYTES = 1_000_000
/** The most that all values of a ConfigMap may have. */
const CONFIG_MAP_MAX_BYTES = 1024 * 1024

export interface DocumentSource {
  readonly document: ValueMap
  /** As the gateway was given it. */
  readonly digest: string
}

/** Undefined where it fits into no resource. */
export const documentManifest = (
  { document, digest }: DocumentSource,
  place: Place,
): Manifest | undefined => {
  const missing = digest === digestOf(document) ? [] : missingVariables(document)
  const secretName = `${place.name}-variables`
  const keys = secretKeys(missing)
  const variablesFrom = missing.map((variable, i) => ({
    name: variable,
    secretRef: { name: secretName, key: keys[i] ?? '' },
  }))
  const packed = pack(document, place)
  if (packed === undefined) return undefined
  const { spec, beside } = packed
  return {
    object: {
      apiVersion: API_VERSION,
      kind: 'ApiSpecification',
      metadata: metadataOf(place),
      spec: { ...(variablesFrom.length > 0 && { variablesFrom }), ...spec },
    },
    beside,
    notes: [],
    ...(variablesFrom.length > 0 && {
      secret: {
        name: secretName,
        wanted: missing.map((variable, i) => ({
          key: keys[i] ?? '',
          what: `variable ${variable}`,
        })),
      },
    }),
  }
}

const pack = (
  document: ValueMap,
  { name, namespace }: Place,
): { readonly spec: ValueMap; readonly beside: readonly ValueMap[] } | undefined => {
  const json = JSON.stringify(document)
  if (Buffer.byteLength(json) <= INLINE_MAX_BYTES) return { spec: { document }, beside: [] }
  const bytes = gzipSync(json, { level: 9 })
  if (bytes.length > CONFIG_MAP_MAX_BYTES) return undefined
  const [configMap, key] = [`${name}-document`, 'document.json.gz']
  return {
    spec: { documentFrom: { configMap: { name: configMap, key } } },
    beside: [
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: metadataOf({ name: configMap, namespace }),
        binaryData: { [key]: bytes.toString('base64') },
      },
    ],
  }
}

/** Those that expressions name and no `variables` of the document defines: they came from Secrets. */
const missingVariables = (document: ValueMap): readonly string[] => {
  const [used, defined] = [new Set<string>(), new Set<string>()]
  const walk = (value: Value): void => {
    if (typeof value === 'string') {
      for (const [, name = ''] of value.matchAll(/\bvariables\.([A-Za-z_]\w*)/g)) used.add(name)
    } else if (isList(value)) for (const item of value) walk(item)
    else if (isMap(value)) {
      const { variables } = value
      if (variables !== undefined && isMap(variables))
        for (const name of Object.keys(variables)) defined.add(name)
      for (const member of Object.values(value)) walk(member)
    }
  }
  walk(document)
  return [...used].filter((name) => !defined.has(name)).sort()
}
