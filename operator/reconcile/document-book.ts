// The ApiSpecifications of one cache after another in; which document each id has, and what there is to say
// of every resource, out. Remembers judgements and the last good version of each resource, nothing else.

import { type Clash, conflictProblem } from '../../spec/conflicts.ts'
import type { Problem } from '../../spec/problem.ts'
import type { DesiredDocument } from '../desired-set.ts'
import type { ResourceCache } from '../resource/resource-source.ts'
import type { ApiSpecificationResource } from '../resource/resource.ts'
import { type DocumentJudgement, judgeDocument, type RealmAccess } from './judge-document.ts'
import { Memo } from './memo.ts'
import { type Claimant, ownersOf } from './owners.ts'
import { documentInput, readDocument, type ReadDocument } from './read-document.ts'
import { readVariables, variableInputs } from './read-variables.ts'
import type { JudgedRealms } from './realm-book.ts'
import { type Applicant, Settlement } from './settlement.ts'
import { documentVerdict } from './document-verdict.ts'
import type { Serving, Verdict } from './verdict.ts'

export interface JudgedDocuments {
  /** id → the version that is to be put. The same map where nothing changed. */
  readonly served: ReadonlyMap<string, DesiredDocument>
  /** Ids that have a resource, and no version to put. */
  readonly kept: ReadonlySet<string>
  readonly verdicts: ReadonlyMap<string, Verdict>
  /** Resources of which not even the id can be told. */
  readonly nameless: readonly ApiSpecificationResource[]
}

interface Judged extends Claimant<ApiSpecificationResource> {
  readonly read: ReadDocument
  readonly judgement: DocumentJudgement
}

interface LastGood {
  readonly document: DesiredDocument
  readonly generation: number
}

type Owners = ReadonlyMap<string, Claimant<ApiSpecificationResource>>

export class DocumentBook {
  readonly #reads = new Memo<ReadDocument>()
  readonly #judgements = new Memo<DocumentJudgement>()
  readonly #verdicts = new Memo<Verdict>()
  readonly #settlement = new Settlement()
  /** By key of the resource. */
  readonly #lastGood = new Map<string, LastGood>()

  judge(
    resources: ReadonlyMap<string, ApiSpecificationResource>,
    cache: ResourceCache,
    realms: JudgedRealms,
  ): JudgedDocuments {
    const judged = [...resources].map(([key, resource]) =>
      this.#judgeOne(key, resource, { cache, realms }),
    )
    const named = judged.filter(({ id }) => id !== '')
    const owners = ownersOf(named)
    this.#forget(resources, owners)
    const { documents, clashes } = this.#settlement.settle(this.#applicants(named, owners))
    this.#remember(owners, documents)
    return {
      served: documents,
      kept: new Set([...owners.keys()].filter((id) => !documents.has(id))),
      verdicts: new Map(judged.map((each) => [each.key, this.#verdict(each, owners, clashes)])),
      nameless: judged.flatMap(({ id, resource }) => (id === '' ? [resource] : [])),
    }
  }

  #judgeOne(
    key: string,
    resource: ApiSpecificationResource,
    { cache, realms }: { readonly cache: ResourceCache; readonly realms: JudgedRealms },
  ): Judged {
    const { namespace } = resource.metadata
    const read = this.#reads.get(key, [resource, documentInput(resource, cache)], () =>
      readDocument(resource, cache),
    )
    const realmUri = 'document' in read ? read.realmUri : undefined
    const access = realms.access(realmUri ?? '', namespace)
    const inputs = [read, ...variableInputs(resource, cache), ...accessInputs(access)]
    const judgement = this.#judgements.get(key, [resource, ...inputs], () =>
      judgeDocument(resource, read, readVariables(resource, cache), access),
    )
    const readId = 'document' in read ? read.id : undefined
    const lastId = this.#lastGood.get(key)?.document.id
    // A version that is not good does not rename: the id that serves stays with its resource.
    const id = judgement.good === undefined ? (lastId ?? readId) : readId
    return { key, resource, id: id ?? '', read, judgement }
  }

  /** A last good version goes with its resource, and with the id that the resource had. */
  #forget(resources: ReadonlyMap<string, ApiSpecificationResource>, owners: Owners): void {
    for (const memo of [this.#reads, this.#judgements, this.#verdicts]) memo.retain(resources)
    for (const [key, { document }] of this.#lastGood) {
      if (owners.get(document.id)?.key !== key) this.#lastGood.delete(key)
    }
  }

  #applicants(named: readonly Judged[], owners: Owners): ReadonlyMap<string, Applicant> {
    const applicants = new Map<string, Applicant>()
    for (const { key, id, judgement } of named) {
      if (owners.get(id)?.key !== key) continue
      const lastGood = this.#lastGood.get(key)?.document
      applicants.set(id, { id, candidate: judgement.good, lastGood })
    }
    return applicants
  }

  #remember(owners: Owners, documents: ReadonlyMap<string, DesiredDocument>): void {
    for (const [id, document] of documents) {
      const owner = owners.get(id)
      if (owner === undefined || this.#lastGood.get(owner.key)?.document === document) continue
      this.#lastGood.set(owner.key, { document, generation: owner.resource.metadata.generation })
    }
  }

  #verdict(
    { key, resource, id, read, judgement }: Judged,
    owners: Owners,
    clashes: ReadonlyMap<string, readonly Clash[]>,
  ): Verdict {
    const owner = owners.get(id)
    const isOwner = owner?.key === key
    const lost = isOwner ? (clashes.get(id) ?? NO_CLASHES) : NO_CLASHES
    const lastGood = isOwner ? this.#lastGood.get(key) : undefined
    const inputs = [resource, read, judgement, owner?.resource, lastGood]
    const winners = lost.map(({ winnerId }) => owners.get(winnerId)?.resource)
    return this.#verdicts.get(key, [...inputs, ...lost.map(clashText), ...winners], () =>
      documentVerdict(resource, judgement, {
        id,
        ...('document' in read && { host: read.host, realmUri: read.realmUri }),
        owner: isOwner ? undefined : owner?.resource,
        clashes: lost.map((clash, i) => ({ problem: problemOf(clash), winner: winners[i] })),
        ...(lastGood && { serving: servingOf(lastGood) }),
      }),
    )
  }
}

const NO_CLASHES: readonly Clash[] = []

const accessInputs = (access: RealmAccess): readonly unknown[] => [
  access.access,
  access.access === 'granted' ? access.realm : undefined,
  access.access === 'unready' ? access.name : undefined,
]

const problemOf = ({ claim, winnerId }: Clash): Problem => conflictProblem(claim, winnerId)

const clashText = (clash: Clash): string => JSON.stringify(problemOf(clash))

const servingOf = ({ document, generation }: LastGood): Serving => ({
  generation,
  digest: document.digest,
})
