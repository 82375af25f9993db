// Unpacks a compiled operation or template from a slice of a packed document. It is the inverse of pack.ts.

import type { CompiledOperation } from '../../language/compiled.ts'
import type { Template } from '../../language/expression/template.ts'
import type { PackedDocument, Slice } from './packed-document.ts'
import { join, joinBase, type OperationBase, type OperationOwn } from './packed-operation.ts'
import { decodeTemplate, type Encoded } from './template-codec.ts'

/** Reads slices of one document; values that its operations share are decoded once and cached. */
export interface Unpacker {
  operation(slice: Slice): CompiledOperation
  template(slice: Slice): Template
}

export const createUnpacker = ({ id, bytes: packed, shared }: PackedDocument): Unpacker => {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength)
  const templates: (Template | undefined)[] = []
  const bases: (OperationBase | undefined)[] = []

  const read = ([offset, length]: Slice): unknown =>
    JSON.parse(bytes.toString('utf8', offset, offset + length))
  const readShared = (index: number): unknown => {
    const slice = shared[index]
    if (slice === undefined)
      throw new Error(`packed document ${id}: there is no shared value ${index}`)
    return read(slice)
  }
  const decode = (encoded: Encoded): Template => decodeTemplate(encoded, sharedTemplate)
  const sharedTemplate = (index: number): Template =>
    (templates[index] ??= decode(readShared(index) as Encoded))

  return {
    operation: (slice) => {
      const { base, ...own } = read(slice) as OperationOwn & { readonly base: number }
      bases[base] ??= joinBase(readShared(base) as OperationBase, decode)
      return join(bases[base], own, decode)
    },
    template: (slice) => decode(read(slice) as Encoded),
  }
}
