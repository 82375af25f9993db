// A KubernetesApi that holds Secrets alone, with the compare and swap of the real one, and faults on demand.

import {
  ApiError,
  type KubernetesApi,
  type ObjectName,
  type ResourceType,
} from '../../../operator/kubernetes/client/api.ts'
import { mapAt } from '../../../language/expression/members.ts'
import { isMap, type Value, type ValueMap } from '../../../language/expression/value.ts'

export interface FakeSecrets {
  readonly api: KubernetesApi
  /** `get secrets a/b`, in order. */
  readonly calls: readonly string[]
  /** Decoded; undefined: there is none. */
  readonly texts: (namespace: string, name: string) => Readonly<Record<string, string>> | undefined
  /** As a person would: whatever it says is there afterwards. */
  readonly put: (namespace: string, name: string, texts: Readonly<Record<string, string>>) => void
  readonly annotate: (namespace: string, name: string, annotations: ValueMap) => void
  readonly remove: (namespace: string, name: string) => void
  /** Before each call; what it throws is the response. */
  onCall: (call: string) => void | Promise<void>
}

export const createFakeSecrets = (): FakeSecrets => {
  const objects = new Map<string, ValueMap>()
  const calls: string[] = []
  let version = 0
  const key = ({ namespace, name }: ObjectName): string => `${namespace}/${name}`
  const metadataOf = (object: ValueMap): ValueMap => mapAt(object, 'metadata')
  const store = (at: string, object: ValueMap): ValueMap => {
    version += 1
    const stored = {
      ...object,
      metadata: { ...metadataOf(object), resourceVersion: String(version) },
    }
    objects.set(at, stored)
    return stored
  }
  const call = async (words: string): Promise<void> => {
    calls.push(words)
    await fake.onCall(words)
  }
  const refused = (): never => {
    throw new Error('not asked for in these tests')
  }
  const api: KubernetesApi = {
    get: async (type: ResourceType, name) => {
      await call(`get ${type.plural} ${key(name)}`)
      return objects.get(key(name)) ?? notFound()
    },
    create: async (type, namespace, object) => {
      const { name } = metadataOf(object)
      const at = `${namespace}/${textOf(name)}`
      await call(`create ${type.plural} ${at}`)
      if (objects.has(at))
        throw new ApiError('it is there', { status: 409, reason: 'AlreadyExists' })
      return store(at, object)
    },
    replace: async (type, name, object) => {
      await call(`replace ${type.plural} ${key(name)}`)
      const stored = objects.get(key(name)) ?? notFound()
      if (metadataOf(stored)['resourceVersion'] !== metadataOf(object)['resourceVersion'])
        throw new ApiError('it is another', { status: 409, reason: 'Conflict' })
      return store(key(name), object)
    },
    list: refused,
    watch: refused,
    apply: refused,
    patch: refused,
    delete: refused,
    onReturn: () => () => undefined,
    close: () => Promise.resolve(),
  }
  const fake: FakeSecrets = {
    api,
    calls,
    texts: (namespace, name) => {
      const data = objects.get(`${namespace}/${name}`)?.['data']
      return isMap(data) ? decode(data) : undefined
    },
    put: (namespace, name, texts) => {
      const object = objects.get(`${namespace}/${name}`) ?? { metadata: { namespace, name } }
      store(`${namespace}/${name}`, { ...object, data: encode(texts) })
    },
    annotate: (namespace, name, annotations) => {
      const object = objects.get(`${namespace}/${name}`) ?? notFound()
      store(`${namespace}/${name}`, {
        ...object,
        metadata: { ...metadataOf(object), annotations },
      })
    },
    remove: (namespace, name) => void objects.delete(`${namespace}/${name}`),
    onCall: () => undefined,
  }
  return fake
}

const textOf = (value: Value | undefined): string => (typeof value === 'string' ? value : '')

const notFound = (): never => {
  throw new ApiError('there is none', { status: 404, reason: 'NotFound' })
}

const encode = (texts: Readonly<Record<string, string>>): ValueMap =>
  Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
  )

const decode = (data: ValueMap): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(data).map(([key, value]) => [
      key,
      Buffer.from(textOf(value), 'base64').toString(),
    ]),
  )
