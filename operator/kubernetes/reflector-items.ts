// Objects as lists and watches tell them in; what is kept of each out, in one immutable map after another. It keeps
// what `read` gave, and of the object itself only uid and version.

import { isMap, type ValueMap } from '../../spec/expression/value.ts'

export interface Items<T> {
  /** Another map after every change that `publish` has told. */
  readonly current: ReadonlyMap<string, T>
  /** ADDED and MODIFIED. */
  put(object: ValueMap): void
  /** DELETED. */
  remove(object: ValueMap): void
  /**
   * Begins a list; nothing of it is seen before `finish`.
   * @param isAnotherPast storage went back in time: the same version may mean another object
   */
  startList(isAnotherPast: boolean): ListIntake
  /** True: `current` is another map now. */
  publish(): boolean
}

export interface ListIntake {
  take(objects: readonly ValueMap[]): void
  /** What was there before and is not in the list is gone. */
  finish(): void
}

export interface ItemsOptions<T> {
  /** @param before what is kept of that name */
  readonly read: (object: ValueMap, before: T | undefined) => T | undefined
  /** `read` threw: the object of this key is left out. */
  readonly onUnread: (key: string, error: unknown) => void
}

interface Entry<T> {
  readonly identity: string
  readonly value: T
}

export const createItems = <T>({ read, onUnread }: ItemsOptions<T>): Items<T> => {
  let entries = new Map<string, Entry<T>>()
  let current: ReadonlyMap<string, T> = new Map()
  let isChanged = false

  const readOne = (key: string, object: ValueMap): Entry<T> | undefined => {
    try {
      const value = read(object, entries.get(key)?.value)
      return value === undefined ? undefined : { identity: identityOf(object), value }
    } catch (error) {
      onUnread(key, error)
      return undefined
    }
  }

  const put = (object: ValueMap): void => {
    const key = keyOf(object)
    if (key === undefined) return
    const known = entries.get(key)
    if (known?.identity === identityOf(object)) return
    const entry = readOne(key, object)
    if (entry !== undefined) entries.set(key, entry)
    else if (known !== undefined) entries.delete(key)
    else return
    isChanged = true
  }

  return {
    get current() {
      return current
    },
    put,
    remove: (object) => {
      const key = keyOf(object)
      if (key !== undefined && entries.delete(key)) isChanged = true
    },
    startList: (isAnotherPast) => {
      const next = new Map<string, Entry<T>>()
      return {
        take: (objects) => {
          for (const object of objects) {
            const key = keyOf(object)
            if (key === undefined) continue
            const known = entries.get(key)
            const isSame = !isAnotherPast && known?.identity === identityOf(object)
            const entry = isSame ? known : readOne(key, object)
            if (entry !== undefined) next.set(key, entry)
          }
        },
        finish: () => {
          isChanged ||= !haveSameEntries(entries, next)
          entries = next
        },
      }
    },
    publish: () => {
      if (!isChanged) return false
      isChanged = false
      current = new Map([...entries].map(([key, { value }]) => [key, value]))
      return true
    },
  }
}

const haveSameEntries = <T>(
  before: ReadonlyMap<string, Entry<T>>,
  after: ReadonlyMap<string, Entry<T>>,
): boolean =>
  before.size === after.size && [...after].every(([key, entry]) => before.get(key) === entry)

/** `namespace/name`; undefined for what has no name. */
const keyOf = (object: ValueMap): string | undefined => {
  const { namespace = '', name } = metadataOf(object)
  return typeof name === 'string' && typeof namespace === 'string'
    ? `${namespace}/${name}`
    : undefined
}

/** A name that is deleted and made again is another object. */
const identityOf = (object: ValueMap): string => {
  const { uid } = metadataOf(object)
  return `${typeof uid === 'string' ? uid : ''} ${versionOf(object)}`
}

export const versionOf = (object: ValueMap): string => {
  const { resourceVersion } = metadataOf(object)
  return typeof resourceVersion === 'string' ? resourceVersion : ''
}

const metadataOf = (object: ValueMap): ValueMap => {
  const metadata = object['metadata'] ?? null
  return isMap(metadata) ? metadata : {}
}
