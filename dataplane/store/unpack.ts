// Unpacks a compiled operation or template from a slice of a packed document. It is the inverse of pack.ts.

import type { CompiledOperation } from '../../language/compiled.ts'
import type { Template } from '../../language/expression/template.ts'
import { expand } from './compact-text.ts'
import type { PackedDocument, Slice } from './packed-document.ts'
import { join, joinBase, type OperationBase, type PackedOperation } from './packed-operation.ts'
import { decodeTemplate, type Encoded } from './template-codec.ts'

/** Reads slices of one document; values that its operations share are decoded once and cached. */
export interface Unpacker {
  operation(slice: Slice): CompiledOperation
  template(slice: Slice): Template
}

export const createUnpacker = ({ id, content, shared }: PackedDocument): Unpacker => {
  let expanded: WeakRef<Buffer> | undefined
  const templates: (Template | undefined)[] = []
  const bases: (OperationBase | undefined)[] = []

  const textOf = ([offset, length]: Slice): string =>
    expandedContent().toString('utf8', offset, offset + length)
  /** Kept until the next collection, as the operations of a document are often first used together. */
  const expandedContent = (): Buffer => {
    const known = expanded?.deref()
    if (known !== undefined) return known
    const bytes = expand(content)
    expanded = new WeakRef(bytes)
    return bytes
  }
  const sharedText = (index: number): string => {
    const slice = shared[index]
    if (slice === undefined)
      throw new Error(`packed document ${id}: there is no shared value ${index}`)
    return textOf(slice)
  }
  const decode = (encoded: Encoded): Template => decodeTemplate(encoded, sharedTemplate)
  const sharedTemplate = (index: number): Template =>
    (templates[index] ??= decode(parseTemplate(sharedText(index))))

  return {
    operation: (slice) => {
      const { base, ...own } = parseOperation(textOf(slice))
      bases[base] ??= joinBase(parseBase(sharedText(base)), decode)
      return join(bases[base], own, decode)
    },
    template: (slice) => decode(parseTemplate(textOf(slice))),
  }
}

// What stands in a slice is what pack.ts of this very process, or of its parent, has written there.
const parseOperation: (json: string) => PackedOperation = JSON.parse
const parseBase: (json: string) => OperationBase<Encoded> = JSON.parse
const parseTemplate: (json: string) => Encoded = JSON.parse
