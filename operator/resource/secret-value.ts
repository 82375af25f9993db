// Resolves a reference to a key of a Secret or ConfigMap to its text and the version it was read at, or to the reason
// why there is none. Values go to data planes only, never into a message.

import { gunzipSync } from 'node:zlib'
import type { ResourceCache } from './resource-source.ts'
import {
  type ConfigMapResource,
  type KeyReference,
  resourceKey,
  type SecretResource,
} from './resource.ts'

export type MissingReason =
  'SecretNotFound' | 'SecretForbidden' | 'ConfigMapNotFound' | 'ConfigMapForbidden' | 'KeyNotFound'

export interface MissingReference {
  readonly reason: MissingReason
  readonly message: string
}

export type Found<T> = { readonly found: T } | { readonly missing: MissingReference }

export interface SecretText {
  readonly text: string
  /** Stands for the value in digests: changes with it, reveals nothing of it. */
  readonly version: string
}

/** A document may be this large once inflated. */
const DOCUMENT_MAX_BYTES = 4 * 1024 * 1024

export const findSecret = (
  cache: ResourceCache,
  namespace: string,
  name: string,
): Found<SecretResource> => {
  const key = resourceKey('Secret', namespace, name)
  const message = forbiddenWords(cache, key)
  if (message !== undefined) return { missing: { reason: 'SecretForbidden', message } }
  const resource = cache.resources.get(key)
  if (resource?.kind === 'Secret') return { found: resource }
  return {
    missing: { reason: 'SecretNotFound', message: `there is no Secret ${namespace}/${name}` },
  }
}

/** @param key of the resource, as in `KIND/NAMESPACE/NAME` */
const forbiddenWords = (cache: ResourceCache, key: string): string | undefined => {
  const remedy = cache.forbidden?.get(key)
  return remedy && `the operator may not read ${key.replace('/', ' ')}; ${remedy}`
}

export const readSecretKey = (secret: SecretResource, key: string): Found<SecretText> => {
  const encoded = Object.hasOwn(secret.data, key) ? secret.data[key] : undefined
  if (encoded === undefined) return { missing: keyNotFound(secret, key, Object.keys(secret.data)) }
  if (!isBase64(encoded)) {
    const message = `key '${key}' of Secret ${where(secret)} is not base64: encode it, or write it into stringData as it is`
    return { missing: { reason: 'KeyNotFound', message } }
  }
  const text = decodeText(encoded)
  if (text === undefined) {
    const message = `key '${key}' of Secret ${where(secret)} is not UTF-8 text`
    return { missing: { reason: 'KeyNotFound', message } }
  }
  const { uid, resourceVersion } = secret.metadata
  return { found: { text, version: `${uid}@${resourceVersion}#${key}` } }
}

/** There, and more than a document may be. */
export interface TooLarge {
  readonly tooLarge: string
}

/** The text under a key of a ConfigMap; `binaryData` is gzip. Bounded at 4 MiB, inflated. */
export const readConfigMapKey = (
  cache: ResourceCache,
  namespace: string,
  { name, key }: KeyReference,
): Found<string> | TooLarge => {
  const id = resourceKey('ConfigMap', namespace, name)
  const message = forbiddenWords(cache, id)
  if (message !== undefined) return { missing: { reason: 'ConfigMapForbidden', message } }
  const resource = cache.resources.get(id)
  if (resource?.kind !== 'ConfigMap') {
    const words = `there is no ConfigMap ${namespace}/${name}`
    return { missing: { reason: 'ConfigMapNotFound', message: words } }
  }
  if (Object.hasOwn(resource.data, key)) return bounded(resource, key)
  if (Object.hasOwn(resource.binaryData, key)) return inflate(resource, key)
  const known = [...Object.keys(resource.data), ...Object.keys(resource.binaryData)]
  return { missing: keyNotFound(resource, key, known) }
}

const bounded = (resource: ConfigMapResource, key: string): Found<string> | TooLarge => {
  const text = resource.data[key] ?? ''
  return Buffer.byteLength(text) > DOCUMENT_MAX_BYTES ? tooLarge(resource, key) : { found: text }
}

const inflate = (resource: ConfigMapResource, key: string): Found<string> | TooLarge => {
  const packed = Buffer.from(resource.binaryData[key] ?? '', 'base64')
  try {
    const bytes = gunzipSync(packed, { maxOutputLength: DOCUMENT_MAX_BYTES })
    return { found: bytes.toString('utf8') }
  } catch (error) {
    if (codeOf(error) === 'ERR_BUFFER_TOO_LARGE') return tooLarge(resource, key)
    const message = `key '${key}' in binaryData of ConfigMap ${where(resource)} is not gzip`
    return { missing: { reason: 'KeyNotFound', message } }
  }
}

const codeOf = (error: unknown): unknown =>
  typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined

const tooLarge = (resource: ConfigMapResource, key: string): TooLarge => ({
  tooLarge: `key '${key}' of ConfigMap ${where(resource)} is larger than the 4 MiB a document may have`,
})

const keyNotFound = (
  resource: SecretResource | ConfigMapResource,
  key: string,
  known: readonly string[],
): MissingReference => {
  const all = [...known, ...(resource.otherKeys ?? [])]
  const has = all.length === 0 ? 'it has no keys' : `it has ${all.slice(0, 10).join(', ')}`
  const message = `${resource.kind} ${where(resource)} has no key '${key}'; ${has}`
  return { reason: 'KeyNotFound', message }
}

const where = (resource: SecretResource | ConfigMapResource): string =>
  `${resource.metadata.namespace}/${resource.metadata.name}`

/** As an API server reads it (RFC 4648 §4): with padding; line breaks are ignored. */
const isBase64 = (text: string): boolean => {
  const bare = text.replaceAll(/[\r\n]/g, '')
  return bare.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(bare)
}

const decodeText = (encoded: string): string | undefined => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(encoded, 'base64'))
  } catch {
    return undefined
  }
}
