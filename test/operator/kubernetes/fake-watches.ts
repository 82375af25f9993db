// Makes watches that hold what a test puts into them, from the options of reflectors, and responses about CRDs.

import {
  ApiError,
  type KubernetesApi,
  type ResourceType,
  TYPES,
} from '../../../operator/kubernetes/client/api.ts'
import type { CreateReflector } from '../../../operator/source/referenced-object.ts'
import type {
  Watched,
  WatchedOptions,
  WatchFailure,
} from '../../../operator/kubernetes/watch/watched.ts'
import type { ValueMap } from '../../../language/expression/value.ts'

export interface FakeWatch {
  readonly options: Pick<
    WatchedOptions<unknown>,
    'type' | 'namespace' | 'fieldSelector' | 'labelSelector' | 'pageSize'
  >
  readonly isStarted: boolean
  readonly isStopped: boolean
  relists: number
  /** What `relist` answers, and what it does before. */
  onRelist: () => boolean | Promise<boolean>
  /** Adds or changes objects, without a word to anybody. */
  hold(...objects: readonly ValueMap[]): FakeWatch
  put(...objects: readonly ValueMap[]): FakeWatch
  remove(...names: readonly string[]): FakeWatch
  /** As it was at its end, in a version that was not seen before. */
  delete(object: ValueMap): FakeWatch
  /** Listed once. */
  sync(...objects: readonly ValueMap[]): FakeWatch
  fail(status: number): FakeWatch
  heal(): FakeWatch
}

export interface FakeWatches {
  readonly createReflector: CreateReflector
  readonly all: readonly FakeWatch[]
  /** Those that run. */
  readonly open: readonly FakeWatch[]
  /** The one that runs of this kind. @throws where there is none, or several */
  of(type: ResourceType, where?: { readonly namespace?: string; readonly name?: string }): FakeWatch
}

export const createFakeWatches = (): FakeWatches => {
  const all: FakeWatch[] = []
  const isOpen = ({ isStarted, isStopped }: FakeWatch): boolean => isStarted && !isStopped
  return {
    all,
    get open() {
      return all.filter(isOpen)
    },
    of: (type, { namespace, name } = {}) => {
      const found = all.filter(
        (each) =>
          isOpen(each) &&
          each.options.type === type &&
          (namespace === undefined || each.options.namespace === namespace) &&
          (name === undefined || each.options.fieldSelector === `metadata.name=${name}`),
      )
      const [only] = found
      if (only !== undefined && found.length === 1) return only
      throw new Error(`${found.length} watches of ${type.plural} ${namespace ?? ''} ${name ?? ''}`)
    },
    createReflector: (options) => {
      const { fake, watched } = createFakeWatch(options)
      all.push(fake)
      return watched
    },
  }
}

const createFakeWatch = <T>(
  options: WatchedOptions<T>,
): { readonly fake: FakeWatch; readonly watched: Watched<T> } => {
  let items: ReadonlyMap<string, T> = new Map()
  let hasSynced = false
  let isStarted = false
  let isStopped = false
  let failure: WatchFailure | undefined
  /** @returns what says the same as before */
  const hold = (objects: readonly ValueMap[]): readonly T[] => {
    const next = new Map(items)
    const renewed: T[] = []
    for (const object of objects) {
      const { namespace = '', name } = object['metadata'] as Record<string, string>
      const key = `${namespace}/${name}`
      const before = items.get(key)
      const value = options.read(object, before)
      if (value === undefined) next.delete(key)
      else next.set(key, value)
      const isKnown = before !== undefined && value !== undefined
      if (isKnown && options.hasChanged?.(before, value) === false) renewed.push(value)
    }
    items = next
    return renewed
  }
  const tell = (change: () => void) => (): FakeWatch => {
    change()
    if (!isStopped) options.onChange()
    return fake
  }
  const fake: FakeWatch = {
    options,
    get isStarted() {
      return isStarted
    },
    get isStopped() {
      return isStopped
    },
    relists: 0,
    onRelist: () => true,
    hold: (...objects) => {
      hold(objects)
      return fake
    },
    put: (...objects) => {
      const renewed = hold(objects)
      if (isStopped) return fake
      for (const each of renewed) options.onRenewed?.(each)
      if (renewed.length < objects.length) options.onChange()
      return fake
    },
    remove: (...names) =>
      tell(() => {
        items = new Map([...items].filter(([key]) => !names.includes(key)))
      })(),
    delete: (object) => {
      const { namespace = '', name = '' } = object['metadata'] as Record<string, string>
      const last = options.read(object, items.get(`${namespace}/${name}`))
      if (last !== undefined) options.onDeleted?.(last)
      return fake.remove(`${namespace}/${name}`)
    },
    sync: (...objects) =>
      tell(() => {
        hold(objects)
        hasSynced = true
        failure = undefined
      })(),
    fail: (status) =>
      tell(() => {
        failure = { sinceMs: 1_000, status, message: `HTTP ${status}` }
      })(),
    heal: tell(() => {
      failure = undefined
      hasSynced = true
    }),
  }
  const watched: Watched<T> = {
    start: () => {
      isStarted = true
    },
    get hasSynced() {
      return hasSynced
    },
    get items() {
      return items
    },
    get failure() {
      return failure
    },
    relist: () => {
      fake.relists += 1
      return Promise.resolve(fake.onRelist())
    },
    stop: () => {
      isStopped = true
      return Promise.resolve()
    },
  }
  return { fake, watched }
}

export type DefinitionResponse = ValueMap | number

export interface FakeApi extends KubernetesApi {
  /** By plural: the definition, or the status of the refusal. */
  readonly definitions: Map<string, DefinitionResponse>
  looks: number
}

export const aDefinition = (uid = 'd1', more: ValueMap = {}): ValueMap => ({
  metadata: { uid, ...more },
  status: { conditions: [{ type: 'Established', status: 'True' }] },
})

/** Answers for CustomResourceDefinitions only. */
export const createFakeApi = (): FakeApi => {
  const refuse = (): never => {
    throw new Error('this should not be asked')
  }
  const definitions = new Map<string, DefinitionResponse>([
    ['apispecifications', aDefinition('d1')],
    ['realms', aDefinition('d2')],
  ])
  const api: FakeApi = {
    definitions,
    looks: 0,
    get: (type, { name }) => {
      if (type !== TYPES.customResourceDefinitions) return refuse()
      api.looks += 1
      const response = definitions.get(name.split('.')[0] ?? '') ?? 404
      if (typeof response !== 'number') return Promise.resolve(response)
      return Promise.reject(new ApiError(`HTTP ${response}`, { status: response }))
    },
    list: refuse,
    watch: refuse,
    create: refuse,
    replace: refuse,
    apply: refuse,
    patch: refuse,
    delete: refuse,
    onReturn: () => () => undefined,
    close: () => Promise.resolve(),
  }
  return api
}
