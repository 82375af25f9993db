// Names operations for OpenAPI after their method and path, so that a name stays as long as these do.

import type { Method } from '../document.ts'

interface Named {
  readonly method: Method
  /** As OpenAPI has it. */
  readonly path: string
}

/**
 * A name for each operation, in order. Where two would have the same, because their paths differ in punctuation alone,
 * those with punctuation end in a hash of their path.
 * @example operationIds([{ method: 'get', path: '/v1/orders/{id}' }]) // ['get_v1_orders_by_id']
 */
export const operationIds = (operations: readonly Named[]): readonly string[] => {
  const counts = new Map<string, number>()
  const plain = operations.map(plainId)
  for (const id of plain) counts.set(id, (counts.get(id) ?? 0) + 1)
  return operations.map(({ path }, index) => {
    const id = plain[index] ?? ''
    return counts.get(id) === 1 || isPlain(path) ? id : `${id}_${hashOf(path)}`
  })
}

const plainId = ({ method, path }: Named): string => {
  const words = path
    .replaceAll('{', '/by/')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '')
  return [method, ...words].join('_')
}

/** Paths of which no two have the same words. */
const isPlain = (path: string): boolean =>
  /^(?:\/(?:[A-Za-z0-9]+|\{[A-Za-z0-9]+\}))*\/?$/.test(path) && !/\/by(?:\/|$)/.test(path)

/** FNV-1a, 32 bits. */
const hashOf = (text: string): string => {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, '0')
}
