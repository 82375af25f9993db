// Writes the body of a sync call for a batch. What does not differ between data planes is written and compressed once,
// and shared by all that are sent the same batch, in a cache of bounded size.

import { promisify } from 'node:util'
import { gzip, gzipSync } from 'node:zlib'
import type { RealmPut, SpecPut, SyncRequest } from '../../../language/wire/wire.ts'
import { criticalMembers, type EntryKind } from '../../../language/wire/members.ts'
import type { DesiredDocument, DesiredRealm } from '../../desired-set.ts'
import type { Batch } from './batches.ts'

/** `base`: the root digest that the difference is based on. */
export type CallHead = Pick<SyncRequest, 'managedBy' | 'epoch' | 'base'>

export interface SyncBody {
  readonly bytes: Buffer
  readonly isGzip: boolean
  /** What the data plane has to read, bytes. */
  readonly inflatedBytes: number
}

/** The part of a body that says nothing of whom it is for. */
export type BatchContent = SyncBody

type Entry = DesiredRealm | DesiredDocument

const GZIP_ABOVE_BYTES = 8 * 1024
const CACHE_BYTES = 8 * 1024 * 1024
const compress = promisify(gzip)
/** Fast: the bytes go to the next machine, not to a disk. */
const LEVEL = { level: 1 }

export class SyncBodies {
  readonly #cacheBytes: number
  /** Goes with the entry: nothing is kept for what is not desired any more. */
  readonly #sizes = new WeakMap<Entry, number>()
  readonly #serials = new WeakMap<Entry, number>()
  #lastSerial = 0
  /** Least recently used first. */
  readonly #contents = new Map<string, { readonly content: Promise<BatchContent>; bytes: number }>()
  #keptBytes = 0
  #compressions = 0

  constructor(cacheBytes = CACHE_BYTES) {
    this.#cacheBytes = cacheBytes
  }

  /** How often something was compressed. */
  get compressions(): number {
    return this.#compressions
  }

  /** Something else is desired: what was sent for an edit before is rarely sent again, and takes 12 KB. */
  forget(): void {
    this.#contents.clear()
    this.#keptBytes = 0
  }

  /** Characters of an entry in a sync call. */
  sizeOf(entry: Entry): number {
    const known = this.#sizes.get(entry)
    if (known !== undefined) return known
    const size = textOf(entry).length
    this.#sizes.set(entry, size)
    return size
  }

  /** Callers that come while it is being made wait for the same one. */
  content(batch: Batch): Promise<BatchContent> {
    const key = this.#keyOf(batch)
    const known = this.#contents.get(key)
    if (known !== undefined) {
      this.#contents.delete(key)
      this.#contents.set(key, known)
      return known.content
    }
    const kept = { content: this.#make(batch), bytes: 0 }
    this.#contents.set(key, kept)
    kept.content.then(
      ({ bytes }) => {
        if (this.#contents.get(key) !== kept) return
        kept.bytes = bytes.length
        this.#keptBytes += bytes.length
        this.#shrink()
      },
      () => this.#contents.delete(key),
    )
    return kept.content
  }

  async #make(batch: Batch): Promise<BatchContent> {
    const bytes = Buffer.from(contentText(batch))
    const inflatedBytes = bytes.length
    if (inflatedBytes <= GZIP_ABOVE_BYTES) return { bytes, isGzip: false, inflatedBytes }
    this.#compressions += 1
    return { bytes: await compress(bytes, LEVEL), isGzip: true, inflatedBytes }
  }

  #shrink(): void {
    for (const [key, { bytes }] of this.#contents) {
      if (this.#keptBytes <= this.#cacheBytes) return
      this.#contents.delete(key)
      this.#keptBytes -= bytes
    }
  }

  /** Names the entries, by what they are and not by what is in them. */
  #keyOf({ realmPuts, puts, deletes, realmDeletes }: Batch): string {
    const serials = [...realmPuts, ...puts].map((entry) => this.#serialOf(entry))
    return JSON.stringify([serials, deletes, realmDeletes])
  }

  #serialOf(entry: Entry): number {
    const known = this.#serials.get(entry)
    if (known !== undefined) return known
    this.#lastSerial += 1
    this.#serials.set(entry, this.#lastSerial)
    return this.#lastSerial
  }
}

/** Goes with the content. Data planes that hold the same are sent the same, one after the other. */
const lastJoined = new WeakMap<BatchContent, { readonly head: string; readonly body: SyncBody }>()

/** Two gzip members after each other are one gzip file (RFC 1952 §2.2). */
export const joinBody = (callHead: CallHead, content: BatchContent): SyncBody => {
  const head = `{${headMembers(callHead).join(',')},`
  const last = lastJoined.get(content)
  if (last?.head === head) return last.body
  const { bytes, isGzip, inflatedBytes } = content
  const text = Buffer.from(head)
  const body = {
    bytes: Buffer.concat([isGzip ? gzipSync(text, LEVEL) : text, bytes]),
    isGzip,
    inflatedBytes: text.length + inflatedBytes,
  }
  lastJoined.set(content, { head, body })
  return body
}

export const completeBody = (head: CallHead, complete: string): SyncBody => {
  const bytes = Buffer.from(`{${[...headMembers(head), member('complete', complete)].join(',')}}`)
  return { bytes, isGzip: false, inflatedBytes: bytes.length }
}

const member = (name: string, value: unknown): string => `"${name}":${JSON.stringify(value)}`

const headMembers = ({ managedBy, epoch, base }: CallHead): readonly string[] => [
  member('managedBy', managedBy),
  member('epoch', epoch),
  member('base', base),
]

/** The members that follow the head's, and the end of the object. */
const contentText = ({ realmPuts, puts, deletes, realmDeletes }: Batch): string =>
  `${part('realms', realmPuts, realmDeletes)},${part('specs', puts, deletes)}}`

const part = (name: string, puts: readonly Entry[], deletes: readonly string[]): string =>
  `"${name}":{"put":[${puts.map(textOf).join(',')}],${member('delete', deletes)}}`

const textOf = (entry: Entry): string =>
  JSON.stringify('uri' in entry ? realmPut(entry) : documentPut(entry))

const realmPut = ({ uri, digest, record }: DesiredRealm): RealmPut =>
  withCritical('realm', { uri, digest, realm: record })

const documentPut = (document: DesiredDocument): SpecPut => {
  const { id, digest, since, resource, spec, variables } = document
  const { confinedTo, credentials, withheld = [] } = document
  return withCritical('spec', {
    id,
    digest,
    since,
    resource,
    spec,
    ...(variables !== undefined && { variables }),
    ...(confinedTo !== undefined && { confinedTo }),
    ...(credentials !== undefined && {
      credentials: credentials.filter((name) => !withheld.includes(name)),
    }),
  })
}

const withCritical = <Put extends RealmPut | SpecPut>(kind: EntryKind, put: Put): Put => {
  const critical = criticalMembers(kind, put)
  return critical.length === 0 ? put : { ...put, critical }
}
