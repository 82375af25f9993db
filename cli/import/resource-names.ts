// Turns ids and uris into names that Kubernetes accepts for its objects (RFC 1123), unique among them and the same each
// time. Pure.

import { hash } from 'node:crypto'

/** What is added to a name must fit into 253 characters. */
const MAX_LENGTH = 200

/**
 * Two that would have one name get a piece of their digest, but for the one that is called so itself.
 * @example resourceNames(['com.example.shop', 'My API']) // 'com.example.shop', 'my-api'
 */
export const resourceNames = (ids: readonly string[]): ReadonlyMap<string, string> => {
  const plain = new Map(ids.map((id) => [id, toName(id)]))
  const counts = new Map<string, number>()
  for (const name of plain.values()) counts.set(name, (counts.get(name) ?? 0) + 1)
  return new Map(
    [...plain].map(([id, name]) => {
      const isUnclear = name === '' || ((counts.get(name) ?? 0) > 1 && name !== id)
      return [id, isUnclear ? withDigest(name, id) : name]
    }),
  )
}

const toName = (id: string): string =>
  id
    .toLowerCase()
    .replaceAll(/[^a-z0-9.]+/g, '-')
    .slice(0, MAX_LENGTH)
    .split('.')
    .map((label) => label.replaceAll(/^-+|-+$/g, ''))
    .filter((label) => label !== '')
    .join('.')

const withDigest = (name: string, id: string): string =>
  [name, hash('sha256', id).slice(0, 10)].filter((part) => part !== '').join('-')

/**
 * Keys of one Secret, in order: a second one of a name is numbered.
 * @example secretKeys(['password-hash-a', 'password-hash-a']) // 'password-hash-a', 'password-hash-a-2'
 */
export const secretKeys = (wanted: readonly string[]): readonly string[] => {
  const taken = new Set<string>()
  return wanted.map((text) => {
    const base = text.replaceAll(/[^-._a-zA-Z0-9]+/g, '-').slice(0, MAX_LENGTH)
    let key = base
    for (let count = 2; taken.has(key); count += 1) key = `${base}-${count}`
    taken.add(key)
    return key
  })
}
