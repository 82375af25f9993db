// Unpacks a compiled operation or template from a slice of a packed document. It is the inverse of pack.ts.

import { createSeenBefore } from '../../base/seen-before.ts'
import { createWeakShare } from '../../base/weak-share.ts'
import type { CompiledOperation } from '../../language/compiled.ts'
import type { Template } from '../../language/expression/template.ts'
import { type CompactText, expand } from './compact-text.ts'
import type { PackedDocument, Slice } from './packed-document.ts'
import { join, joinBase, type OperationBase, type PackedOperation } from './packed-operation.ts'
import { decodeTemplate, type Encoded } from './template-codec.ts'

/** Reads slices of one document; values that its operations share are decoded once and cached. */
export interface Unpacker {
  operation(slice: Slice): CompiledOperation
  template(slice: Slice): Template
}

export const createUnpacker = (document: PackedDocument): Unpacker => new DocumentUnpacker(document)

/** As an object, which can be shared as long as somebody holds it. */
interface BaseText {
  readonly text: string
}

const share = createWeakShare<BaseText>()
const wasSeen = createSeenBefore()

/** Thousands of documents have one of few. */
const shareBase = (text: string): BaseText =>
  wasSeen(text) ? share(text, () => ({ text })) : { text }

const NO_SLICES: readonly Slice[] = Object.freeze([])

/** A class, not closures: each document has one, and they took 0.5 KB more. */
class DocumentUnpacker implements Unpacker {
  readonly #id: string
  readonly #base: BaseText
  readonly #content: CompactText
  readonly #shared: readonly Slice[]
  #expanded: WeakRef<Buffer> | undefined
  #templates: (Template | undefined)[] | undefined
  #firstBase: OperationBase | undefined
  #bases: (OperationBase | undefined)[] | undefined

  constructor({ id, base, content, shared }: PackedDocument) {
    this.#id = id
    this.#base = shareBase(base)
    this.#content = content
    this.#shared = shared.length === 0 ? NO_SLICES : shared
  }

  operation(slice: Slice): CompiledOperation {
    const { base, ...own } = parseOperation(this.#textOf(slice))
    return join(this.#baseOf(base), own, this.#decode)
  }

  template(slice: Slice): Template {
    return this.#decode(parseTemplate(this.#textOf(slice)))
  }

  #baseOf(index: number | undefined): OperationBase {
    if (index === undefined) return (this.#firstBase ??= this.#joined(this.#base.text))
    const bases = (this.#bases ??= [])
    return (bases[index] ??= this.#joined(this.#sharedText(index)))
  }

  #joined(base: string): OperationBase {
    return joinBase(parseBase(base), this.#decode)
  }

  get #decode(): (encoded: Encoded) => Template {
    return (encoded) => decodeTemplate(encoded, (index) => this.#sharedTemplate(index))
  }

  #sharedTemplate(index: number): Template {
    const templates = (this.#templates ??= [])
    return (templates[index] ??= this.#decode(parseTemplate(this.#sharedText(index))))
  }

  #sharedText(index: number): string {
    const slice = this.#shared[index]
    if (slice === undefined)
      throw new Error(`packed document ${this.#id}: there is no shared value ${index}`)
    return this.#textOf(slice)
  }

  #textOf([offset, length]: Slice): string {
    return this.#expandedContent().toString('utf8', offset, offset + length)
  }

  /** Kept until the next collection, as the operations of a document are often first used together. */
  #expandedContent(): Buffer {
    const known = this.#expanded?.deref()
    if (known !== undefined) return known
    const bytes = expand(this.#content)
    this.#expanded = new WeakRef(bytes)
    return bytes
  }
}

// What stands in a slice is what pack.ts of this very process, or of its parent, has written there.
const parseOperation: (json: string) => PackedOperation = JSON.parse
const parseBase: (json: string) => OperationBase<Encoded> = JSON.parse
const parseTemplate: (json: string) => Encoded = JSON.parse
