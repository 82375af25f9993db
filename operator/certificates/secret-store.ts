// Reads and writes Secrets of the operator by compare and swap: of two concurrent writers one wins and the other
// continues from what it wrote. Values are never logged and stand in no error.

import { mapAt, memberAt } from '../../language/expression/members.ts'
import type { ValueMap } from '../../language/expression/value.ts'
import type { Secret } from '../kubernetes/objects.ts'
import { isApiError, type KubernetesApi, type ObjectName, TYPES } from '../kubernetes/client/api.ts'
import type { SecretTexts } from './authority.ts'
import { CertificateError } from './certificate-error.ts'

export interface StoredSecret {
  /** Undefined: there is no such Secret. */
  readonly texts: SecretTexts | undefined
  /** Name of the operator that owns it, from its annotation. */
  readonly owner: string | undefined
  readonly object: ValueMap | undefined
}

/** Namespace of the operator that a Secret belongs to. */
export const OWNER_ANNOTATION = 'gateway.svc.dev/certificates-of'

/** @throws ApiError but for 404 */
export const readSecret = async (
  api: KubernetesApi,
  name: ObjectName,
  keys: ReadonlySet<string> = KEYS,
): Promise<StoredSecret> => {
  try {
    const object: Secret = await api.get(TYPES.secrets, name)
    const owner = memberAt(mapAt(mapAt(object, 'metadata'), 'annotations'), OWNER_ANNOTATION)
    return {
      object,
      texts: textsOf(mapAt(object, 'data'), keys),
      owner: typeof owner === 'string' ? owner : undefined,
    }
  } catch (error) {
    if (!isApiError(error, 'not_found')) throw error
    return { object: undefined, texts: undefined, owner: undefined }
  }
}

export interface SecretUpdate {
  readonly name: ObjectName
  /** Written into its annotation; a Secret of another owner is not changed. */
  readonly owner: string
  readonly type: 'Opaque' | 'kubernetes.io/tls'
  /** The keys of it that we manage; those of a certificate when absent. */
  readonly keys?: ReadonlySet<string>
  /** The content to write in place of `texts`; undefined: it stays as it is. May be called again. */
  readonly decide: (texts: SecretTexts | undefined) => Promise<SecretTexts | undefined>
}

/** More conflicts than that in a row are a bug. */
const TRIES = 5

/**
 * @returns what stands there in the end
 * @throws ApiError; CertificateError `foreign_secret`
 */
export const updateSecret = async (
  api: KubernetesApi,
  update: SecretUpdate,
): Promise<SecretTexts> => {
  for (let tries = 1; ; tries += 1) {
    const stored = await readSecret(api, update.name, update.keys)
    refuseForeign(stored, update)
    const texts = await update.decide(stored.texts)
    if (texts === undefined) return stored.texts ?? {}
    try {
      await write(api, update, { stored, texts })
      return texts
    } catch (error) {
      const isOvertaken =
        isApiError(error, 'conflict') || (stored.object && isApiError(error, 'not_found'))
      if (!isOvertaken || tries === TRIES) throw error
    }
  }
}

const refuseForeign = ({ owner }: StoredSecret, update: SecretUpdate): void => {
  if (owner === undefined || owner === update.owner) return
  const { namespace, name } = update.name
  throw new CertificateError(
    'foreign_secret',
    `Secret ${namespace}/${name} belongs to the operator of namespace ${owner}: ` +
      'if that operator is gone, delete the Secret',
  )
}

/** Those of certificates. A key that we manage and do not write again is removed. */
const KEYS: ReadonlySet<string> = new Set(['tls.crt', 'tls.key', 'ca.crt', 'next.crt', 'next.key'])

const write = async (
  api: KubernetesApi,
  { name: { namespace, name }, owner, type, keys = KEYS }: SecretUpdate,
  { stored: { object }, texts }: { readonly stored: StoredSecret; readonly texts: SecretTexts },
): Promise<void> => {
  const data = encode(texts)
  if (object === undefined) {
    const metadata = { namespace, name, labels: LABELS, annotations: { [OWNER_ANNOTATION]: owner } }
    await api.create(TYPES.secrets, namespace, { ...HEAD, type, metadata, data })
    return
  }
  const metadata = mapAt(object, 'metadata')
  const foreign = Object.entries(mapAt(object, 'data')).filter(([key]) => !keys.has(key))
  const annotations = { ...mapAt(metadata, 'annotations'), [OWNER_ANNOTATION]: owner }
  const labels = { ...mapAt(metadata, 'labels'), ...LABELS }
  // With its resource version, so that a write by another in between is a 409. The type cannot be changed.
  await api.replace(
    TYPES.secrets,
    { namespace, name },
    {
      ...object,
      ...HEAD,
      metadata: { ...metadata, labels, annotations },
      data: { ...Object.fromEntries(foreign), ...data },
    },
  )
}

const HEAD = { apiVersion: 'v1', kind: 'Secret' }
const LABELS = {
  'app.kubernetes.io/part-of': 'svc-gateway',
  'app.kubernetes.io/managed-by': 'svc-operator',
}

const encode = (texts: SecretTexts): ValueMap =>
  Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
  )

const textsOf = (data: ValueMap, keys: ReadonlySet<string>): SecretTexts =>
  Object.fromEntries(
    Object.entries(data).flatMap(([key, value]) =>
      keys.has(key) && typeof value === 'string'
        ? [[key, Buffer.from(value, 'base64').toString()]]
        : [],
    ),
  )
