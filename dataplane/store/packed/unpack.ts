// Unpacks the operations of a packed document. It is the inverse of pack.ts.

import { deserialize } from 'node:v8'
import { type Compact, expand } from './compact.ts'
import type { PackedDocument, UnpackedPath } from './packed-document.ts'

/** Unpacks all paths of a document at once, as they are often first used together. */
export class Unpacker {
  readonly #id: string
  readonly #content: Compact
  /** Kept until the next collection: what is built of it is kept elsewhere, and takes less. */
  #paths: WeakRef<readonly UnpackedPath[]> | undefined

  constructor({ id, content }: PackedDocument) {
    this.#id = id
    this.#content = content
  }

  /** @param index of the path among those of all versions */
  path(index: number): UnpackedPath {
    const path = this.#unpack()[index]
    if (path === undefined)
      throw new Error(`packed document ${this.#id}: there is no path ${index}`)
    return path
  }

  #unpack(): readonly UnpackedPath[] {
    const known = this.#paths?.deref()
    if (known !== undefined) return known
    const paths = readPaths(expand(this.#content))
    this.#paths = new WeakRef(paths)
    return paths
  }
}

/** Its bytes were written by pack.ts of this very process, or of one of the same gateway; they are never on disk. */
const readPaths: (bytes: Buffer) => readonly UnpackedPath[] = deserialize
