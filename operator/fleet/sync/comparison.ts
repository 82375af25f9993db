// Compares, again and again, what a data plane should have loaded with what it has, and gives the keys at which they
// differ. After the first time it visits only what has changed on either side.

import type { SyncItem } from '../../../language/wire/wire.ts'
import type { Keys, Selection } from './selection.ts'

interface Contents {
  readonly documents: Digests
  readonly realms: Digests
}

type Digests = ReadonlyMap<string, { readonly digest: string }>

interface Compared {
  readonly selection: Selection
  /** Where they differed, or may differ since. */
  readonly documents: Set<string>
  readonly realms: Set<string>
}

interface Touched {
  readonly documents: Iterable<string>
  readonly realms: Iterable<string>
}

/** Of one data plane: it must be notified of every change of what that has loaded. */
export class Comparison {
  #last: Compared | undefined

  /** @param touched where it may have loaded something else since the last comparison */
  goingOn(touched: Touched): Comparison {
    const next = new Comparison()
    if (this.#last === undefined) return next
    const { selection, documents, realms } = this.#last
    next.#last = {
      selection,
      documents: new Set([...documents, ...touched.documents]),
      realms: new Set([...realms, ...touched.realms]),
    }
    return next
  }

  touch(kind: SyncItem['kind'], key: string): void {
    if (kind === 'spec') this.#last?.documents.add(key)
    else this.#last?.realms.add(key)
  }

  keys(selection: Selection, loaded: Contents): Keys {
    const suspects = this.#suspects(selection, loaded)
    this.#last = {
      selection,
      documents: differing(suspects.documents, selection.documents, loaded.documents),
      realms: differing(suspects.realms, selection.realms, loaded.realms),
    }
    return this.#last
  }

  #suspects(selection: Selection, { documents, realms }: Contents): Keys {
    const last = this.#last
    if (last === undefined) {
      return {
        documents: new Set([...selection.documents.keys(), ...documents.keys()]),
        realms: new Set([...selection.realms.keys(), ...realms.keys()]),
      }
    }
    if (last.selection === selection) return last
    const changes = selection.changesSince(last.selection)
    return {
      documents: new Set([...last.documents, ...changes.documents]),
      realms: new Set([...last.realms, ...changes.realms]),
    }
  }
}

const differing = (
  suspects: ReadonlySet<string>,
  wanted: Digests,
  loaded: Digests,
): Set<string> => {
  const keys = new Set<string>()
  for (const key of suspects) {
    if (wanted.get(key)?.digest !== loaded.get(key)?.digest) keys.add(key)
  }
  return keys
}
