// A batch in; the JSON text of the sync call out. A document is turned into text once for the whole fleet.

import type { RealmPut, SpecPut, SyncRequest } from '../../spec/wire.ts'
import type { DesiredDocument, DesiredRealm } from '../desired-set.ts'
import type { Batch } from './batches.ts'

/** `base`: the root digest that the difference was made on. */
export type CallHead = Pick<SyncRequest, 'managedBy' | 'epoch' | 'base'>

export class SyncTexts {
  /** Goes with the entry: nothing is kept for what is not desired any more. */
  readonly #texts = new WeakMap<object, string>()

  of(entry: DesiredRealm | DesiredDocument): string {
    const known = this.#texts.get(entry)
    if (known !== undefined) return known
    const text = JSON.stringify('uri' in entry ? realmPut(entry) : documentPut(entry))
    this.#texts.set(entry, text)
    return text
  }

  body(head: CallHead, batch: Batch): string {
    const members = [
      ...headMembers(head),
      part('realms', this.#list(batch.realmPuts), batch.realmDeletes),
      part('specs', this.#list(batch.puts), batch.deletes),
    ]
    return `{${members.join(',')}}`
  }

  #list(entries: readonly (DesiredRealm | DesiredDocument)[]): string {
    return entries.map((entry) => this.of(entry)).join(',')
  }
}

export const completeBody = (head: CallHead, complete: string): string =>
  `{${[...headMembers(head), member('complete', complete)].join(',')}}`

const member = (name: string, value: unknown): string => `"${name}":${JSON.stringify(value)}`

const headMembers = ({ managedBy, epoch, base }: CallHead): readonly string[] => [
  member('managedBy', managedBy),
  member('epoch', epoch),
  member('base', base),
]

const part = (name: string, puts: string, deletes: readonly string[]): string =>
  `"${name}":{"put":[${puts}],${member('delete', deletes)}}`

const realmPut = ({ uri, digest, record }: DesiredRealm): RealmPut => ({
  uri,
  digest,
  realm: record,
})

const documentPut = ({ id, digest, since, spec, variables }: DesiredDocument): SpecPut => ({
  ...{ id, digest, since, spec },
  ...(variables !== undefined && { variables }),
})
