// Unpacks the operations of a packed document. It is the inverse of pack.ts.

import { deserialize } from 'node:v8'
import { type Compact, expand } from './compact.ts'
import type { UnmatchedParts } from '../../../language/compile/compiled.ts'
import type { PackedDocument, UnpackedDocument, UnpackedPath } from './packed-document.ts'

/** Unpacks all of a document at once, as its paths are often first used together. */
export class Unpacker {
  readonly #id: string
  readonly #content: Compact
  /** Kept until the next collection: what is built of it is kept elsewhere, and takes less. */
  #known: WeakRef<UnpackedDocument> | undefined

  constructor({ id, content }: PackedDocument) {
    this.#id = id
    this.#content = content
  }

  /** @param index of the path among those of all versions */
  path(index: number): UnpackedPath {
    const path = this.#unpack().paths[index]
    if (path === undefined)
      throw new Error(`packed document ${this.#id}: there is no path ${index}`)
    return path
  }

  /** @param index of the version */
  unmatched(index: number): UnmatchedParts {
    const parts = this.#unpack().unmatched[index]
    if (parts === undefined)
      throw new Error(`packed document ${this.#id}: there is no version ${index}`)
    return parts
  }

  #unpack(): UnpackedDocument {
    const known = this.#known?.deref()
    if (known !== undefined) return known
    const content = readContent(expand(this.#content))
    this.#known = new WeakRef(content)
    return content
  }
}

/** Its bytes were written by pack.ts of this very process, or of one of the same gateway; they are never on disk. */
const readContent: (bytes: Buffer) => UnpackedDocument = deserialize
