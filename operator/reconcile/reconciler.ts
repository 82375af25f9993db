// One cache of resources after another in; what the data planes should hold, and a verdict on every
// resource, out. No I/O, no clock: the same caches in the same order give the same results.

import { type DesiredRealm, type DesiredSet, EMPTY_DESIRED } from '../desired-set.ts'
import type { ResourceCache } from '../resource/resource-source.ts'
import { type ApiSpecificationResource, keyOf, type RealmResource } from '../resource/resource.ts'
import { DocumentBook, type JudgedDocuments } from './document-book.ts'
import { type JudgedRealms, RealmBook } from './realm-book.ts'
import type { Verdict } from './verdict.ts'

export interface Reconciliation {
  readonly desired: DesiredSet
  /** By key of the resource: every ApiSpecification of our class, every Realm. Same objects if unchanged. */
  readonly verdicts: ReadonlyMap<string, Verdict>
}

export interface ReconcilerOptions {
  /** ApiSpecifications of another class are not looked at. */
  readonly className: string
}

export const DEFAULT_CLASS = 'svc'

/**
 * Judges again only what has changed inputs. Its memory is what `reconcile` has seen: judgements, and the
 * last good version of each resource, which keeps serving while a newer one is not good.
 * @example new Reconciler({ className: 'svc' }).reconcile(source.current()).desired
 */
export class Reconciler {
  readonly #realms = new RealmBook()
  readonly #documents = new DocumentBook()
  readonly #className: string
  #desired: DesiredSet = EMPTY_DESIRED
  /** Resources that were there at first and could not be told the id of: they may stand for anything. */
  #riddles: ReadonlySet<string> | undefined

  constructor({ className }: ReconcilerOptions) {
    this.#className = className
  }

  reconcile(cache: ResourceCache): Reconciliation {
    const { specifications, realmResources } = this.#sort(cache)
    const realms = this.#realms.judge(realmResources, cache)
    const documents = this.#documents.judge(specifications, cache, realms)
    const holdDeletes = cache.holdDeletes ?? this.#holdForRiddles(realms, documents)
    const next = buildDesired(this.#desired, realms, documents, holdDeletes)
    if (!sameDesired(next, this.#desired)) this.#desired = next
    return {
      desired: this.#desired,
      verdicts: new Map([...realms.verdicts, ...documents.verdicts]),
    }
  }

  #sort(cache: ResourceCache): {
    readonly specifications: ReadonlyMap<string, ApiSpecificationResource>
    readonly realmResources: ReadonlyMap<string, RealmResource>
  } {
    const specifications = new Map<string, ApiSpecificationResource>()
    const realmResources = new Map<string, RealmResource>()
    for (const [key, resource] of cache.resources) {
      if (resource.kind === 'Realm') realmResources.set(key, resource)
      if (resource.kind === 'ApiSpecification' && this.#isOurs(resource)) {
        specifications.set(key, resource)
      }
    }
    return { specifications, realmResources }
  }

  #isOurs({ checked }: ApiSpecificationResource): boolean {
    return (
      'problems' in checked || (checked.spec.gatewayClassName ?? DEFAULT_CLASS) === this.#className
    )
  }

  /**
   * A resource that was unreadable when we began may be the owner of anything a data plane holds. One that
   * comes later, or becomes unreadable later, is known by what it was.
   */
  #holdForRiddles(realms: JudgedRealms, documents: JudgedDocuments): string | undefined {
    const nameless = [...realms.nameless, ...documents.nameless]
    const keys = new Set(nameless.map(keyOf))
    const before = this.#riddles ?? keys
    this.#riddles = new Set([...before].filter((key) => keys.has(key)))
    const first = nameless.find((resource) => this.#riddles?.has(keyOf(resource)))
    if (first === undefined) return undefined
    const { namespace, name } = first.metadata
    return (
      `${first.kind} ${namespace}/${name} can't be read, so nobody knows what it stands for: ` +
      'nothing is deleted until it is mended or removed'
    )
  }
}

const buildDesired = (
  before: DesiredSet,
  realms: JudgedRealms,
  documents: JudgedDocuments,
  holdDeletes: string | undefined,
): DesiredSet => ({
  version: before.version + 1,
  documents: documents.served,
  realms: sameOrNew(before.realms, realms),
  kept: { documents: documents.kept, realms: realms.kept },
  ...(holdDeletes !== undefined && { holdDeletes }),
})

const sameOrNew = (
  before: ReadonlyMap<string, DesiredRealm>,
  { served }: JudgedRealms,
): ReadonlyMap<string, DesiredRealm> => {
  const next = new Map([...served].map(([uri, { desired }]) => [uri, desired]))
  const same =
    next.size === before.size && [...next].every(([uri, realm]) => before.get(uri) === realm)
  return same ? before : next
}

const sameDesired = (left: DesiredSet, right: DesiredSet): boolean =>
  left.documents === right.documents &&
  left.realms === right.realms &&
  left.holdDeletes === right.holdDeletes &&
  sameSet(left.kept.documents, right.kept.documents) &&
  sameSet(left.kept.realms, right.kept.realms)

const sameSet = (left: ReadonlySet<string>, right: ReadonlySet<string>): boolean =>
  left.size === right.size && [...left].every((entry) => right.has(entry))
