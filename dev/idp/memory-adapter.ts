// Stores the data of oidc-provider in memory. One map for all kinds of data.

import type { Adapter, AdapterFactory, AdapterPayload } from 'oidc-provider'
import { BoundedMap } from '../../base/bounded-map.ts'

interface Held {
  payload: AdapterPayload
  /** Unix time, milliseconds. */
  readonly until: number
}

/** Entries at once; the oldest are forgotten. */
const MAX_HELD = 10_000

export const createMemoryAdapter = (now: () => number = Date.now): AdapterFactory => {
  const held = new BoundedMap<string, Held>(MAX_HELD)
  return (model) => adapterOf(held, model, now)
}

const adapterOf = (held: BoundedMap<string, Held>, model: string, now: () => number): Adapter => {
  const keyOf = (id: string): string => `${model}:${id}`
  const find = (id: string): AdapterPayload | undefined => {
    const found = held.get(keyOf(id))
    return found !== undefined && found.until > now() ? found.payload : undefined
  }
  const findBy = (name: 'uid' | 'userCode', value: string): AdapterPayload | undefined => {
    for (const [key, { payload, until }] of held)
      if (key.startsWith(keyOf('')) && payload[name] === value && until > now()) return payload
    return undefined
  }
  return {
    upsert: (id, payload, expiresInSeconds = Infinity) => {
      held.set(keyOf(id), { payload, until: now() + expiresInSeconds * 1000 })
      return Promise.resolve()
    },
    find: (id) => Promise.resolve(find(id)),
    findByUid: (uid) => Promise.resolve(findBy('uid', uid)),
    findByUserCode: (userCode) => Promise.resolve(findBy('userCode', userCode)),
    consume: (id) => {
      const found = held.get(keyOf(id))
      if (found !== undefined)
        found.payload = { ...found.payload, consumed: Math.floor(now() / 1000) }
      return Promise.resolve()
    },
    destroy: (id) => {
      held.delete(keyOf(id))
      return Promise.resolve()
    },
    revokeByGrantId: (grantId) => {
      for (const [key, { payload }] of held)
        if (key.startsWith(keyOf('')) && payload.grantId === grantId) held.delete(key)
      return Promise.resolve()
    },
  }
}
