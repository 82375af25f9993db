// Compares, again and again, what a data plane should have loaded with what it has, and gives the keys at which they
// differ. After the first time it visits only what has changed on either side.

import type { SyncItem } from '../../../language/wire/wire.ts'
import type { Keys, Selection } from './selection.ts'

interface Contents {
  readonly documents: Digests
  readonly realms: Digests
}

interface Comparable {
  readonly digest: string
  /** Absent of what comes from no resource, or where it is not known. */
  readonly resource?: string | undefined
}

interface Digests {
  get(key: string): Comparable | undefined
  keys(): Iterable<string>
}

interface Touched {
  readonly documents: Iterable<string>
  readonly realms: Iterable<string>
}

/** Of one data plane: it must be notified of every change of what that has loaded. */
export class Comparison {
  #selection: Selection | undefined
  /** Where they differed the last time. */
  readonly #differing: ChangingKeys
  /** Where it has loaded something else since. */
  readonly #touched: ChangingKeys

  private constructor(differing: ChangingKeys, touched: ChangingKeys) {
    this.#differing = differing
    this.#touched = touched
  }

  static begin(): Comparison {
    return new Comparison(noKeys(), noKeys())
  }

  /** @param touched where it may have loaded something else since the last comparison */
  goingOn(touched: Touched): Comparison {
    const next = new Comparison(
      { documents: new Set(this.#differing.documents), realms: new Set(this.#differing.realms) },
      {
        documents: new Set([...this.#touched.documents, ...touched.documents]),
        realms: new Set([...this.#touched.realms, ...touched.realms]),
      },
    )
    next.#selection = this.#selection
    return next
  }

  touch(kind: SyncItem['kind'], key: string): void {
    if (kind === 'spec') this.#touched.documents.add(key)
    else this.#touched.realms.add(key)
  }

  /** What it was compared with last, and where they differ; undefined: it has loaded something else since. */
  get last(): { readonly selection: Selection; readonly keys: Keys } | undefined {
    const isOver = this.#touched.documents.size + this.#touched.realms.size > 0
    const selection = this.#selection
    return selection === undefined || isOver ? undefined : { selection, keys: this.#differing }
  }

  /** @returns sets that are true until the next call */
  keys(selection: Selection, loaded: Contents): Keys {
    const before = this.#selection
    const isTouched = this.#touched.documents.size + this.#touched.realms.size > 0
    if (before === selection && !isTouched) return this.#differing
    this.#selection = selection
    const isFirst = before === undefined
    const changes = isFirst || before === selection ? NONE : selection.changesSince(before)
    for (const kind of KINDS) {
      const [wanted, has] = [selection[kind], loaded[kind]]
      const suspects = isFirst ? [wanted.keys(), has.keys()] : [changes[kind], this.#touched[kind]]
      for (const keys of suspects) compareAt(keys, wanted, has, this.#differing[kind])
      this.#touched[kind].clear()
    }
    return this.#differing
  }
}

const compareAt = (
  keys: Iterable<string>,
  wanted: Digests,
  has: Digests,
  differing: Set<string>,
): void => {
  for (const key of keys) {
    if (isSame(wanted.get(key), has.get(key))) differing.delete(key)
    else differing.add(key)
  }
}

/**
 * The same text may belong to another resource now. If a gateway knows no resource of it, an earlier operator has sent it:
 * it is not sent again for that, as gateways would compile all documents again; metrics lack a name until the next edit.
 */
const isSame = (wanted: Comparable | undefined, has: Comparable | undefined): boolean => {
  if (wanted?.digest !== has?.digest) return false
  const [wants, knows] = [wanted?.resource, has?.resource ?? '']
  return wants === undefined || knows === '' || wants === knows
}

interface ChangingKeys {
  readonly documents: Set<string>
  readonly realms: Set<string>
}

const noKeys = (): ChangingKeys => ({ documents: new Set(), realms: new Set() })

const NONE: Keys = noKeys()

const KINDS = ['documents', 'realms'] as const
