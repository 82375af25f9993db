// Decodes the body of a message for a comparison: by its type, as the gateway does, or as text.

import type { Value } from '../../language/expression/value.ts'
import { mediaKind } from '../../language/routes/media-kind.ts'
import { decodeBody } from '../codec/codec.ts'
import { createUnboundedMemory } from '../memory/memory-budget.ts'

/** @example decodeMessage('application/json', Buffer.from('{"a":1}')) // { a: 1 } */
export const decodeMessage = (contentType: string, bytes: Buffer): Value => {
  if (bytes.length === 0 || mediaKind(contentType) === 'other') return bytes.toString()
  try {
    return decodeBody(contentType, bytes, createUnboundedMemory().open())
  } catch {
    return bytes.toString()
  }
}

/**
 * Repeated ones are joined.
 * @example headerRecord(['A', '1', 'a', '2']) // { a: '1, 2' }
 */
export const headerRecord = (raw: readonly string[]): Record<string, string> => {
  const record: Record<string, string> = {}
  for (let at = 0; at < raw.length; at += 2) {
    const name = (raw[at] ?? '').toLowerCase()
    const value = raw[at + 1] ?? ''
    const before = Object.hasOwn(record, name) ? record[name] : undefined
    record[name] = before === undefined ? value : `${before}, ${value}`
  }
  return record
}
