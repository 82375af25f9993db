// A slice of a packed document in, the compiled operation or template out. The inverse of pack.ts.

import type { CompiledOperation } from '../../spec/compiled.ts'
import type { Template } from '../../spec/expression/template.ts'
import type { PackedDocument, Slice } from './packed-document.ts'

/** Reads slices of one document; what its operations share is read once and kept while it is in use. */
export interface Unpacker {
  operation(slice: Slice): CompiledOperation
  template(slice: Slice): Template
}

export const createUnpacker = (document: PackedDocument): Unpacker => {
  const bytes = Buffer.from(
    document.bytes.buffer,
    document.bytes.byteOffset,
    document.bytes.byteLength,
  )
  const shared: unknown[] = []
  const read = ([offset, length]: Slice): unknown =>
    resolve(JSON.parse(bytes.toString('utf8', offset, offset + length)))
  const resolve = (node: unknown): unknown => {
    if (typeof node !== 'object' || node === null) return node
    if (Array.isArray(node)) {
      for (const [index, item] of node.entries()) node[index] = resolve(item)
      return node
    }
    const record = node as Record<string, unknown>
    if (record['kind'] === 'constant') return node
    if (record['kind'] === 'shared') return readShared(record['index'] as number)
    for (const [key, value] of Object.entries(record)) record[key] = resolve(value)
    return node
  }
  const readShared = (index: number): unknown => {
    const slice = document.shared[index]
    if (slice === undefined)
      throw new Error(`packed document ${document.id}: no shared value ${index}`)
    return (shared[index] ??= read(slice))
  }
  return {
    operation: (slice) => read(slice) as CompiledOperation,
    template: (slice) => read(slice) as Template,
  }
}
