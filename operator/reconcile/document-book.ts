// The ApiSpecifications of one cache after another in; which document each id has, and what there is to say
// of every resource, out. Remembers judgements and the last good version of each resource, nothing else.

import { type Clash, conflictProblem } from '../../spec/conflicts.ts'
import type { ValueMap } from '../../spec/expression/value.ts'
import type { Problem } from '../../spec/problem.ts'
import type { DesiredDocument } from '../desired-set.ts'
import type { ResourceCache } from '../resource/resource-source.ts'
import { type ApiSpecificationResource, isPaused } from '../resource/resource.ts'
import { documentVerdict } from './document-verdict.ts'
import type { HostGrant } from './host-grants.ts'
import { HostOwners, type LostHosts } from './host-owners.ts'
import { type DocumentJudgement, judgeDocument, type RealmAccess } from './judge-document.ts'
import { type LastGood, LastGoodVersions } from './last-good.ts'
import { Memo } from './memo.ts'
import type { MissingVersion } from './missing-version.ts'
import { type Claimant, isRenamed, ownersOf } from './owners.ts'
import { documentInput, readDocument, type ReadDocument } from './read-document.ts'
import { readVariables, variableInputs } from './read-variables.ts'
import { type Applicant, Settlement, type Settled } from './settlement.ts'
import type { Serving, Verdict } from './verdict.ts'

export interface JudgedDocuments {
  /** id → the version that is to be put. The same map where nothing changed. */
  readonly served: ReadonlyMap<string, DesiredDocument>
  /** Ids that have a resource, and no version to put. */
  readonly kept: ReadonlySet<string>
  readonly verdicts: ReadonlyMap<string, Verdict>
  /** Resources of which not even the id can be told. */
  readonly nameless: readonly ApiSpecificationResource[]
  /** The same list where nothing changed. */
  readonly missing: readonly MissingVersion[]
}

/** What stands beside the documents. */
export interface Surroundings {
  readonly cache: ResourceCache
  readonly access: (realmUri: string, namespace: string) => RealmAccess
  readonly grant: (namespace: string) => HostGrant
}

type Specifications = ReadonlyMap<string, ApiSpecificationResource>

interface Judged extends Claimant<ApiSpecificationResource> {
  readonly read: ReadDocument
  readonly judgement: DocumentJudgement
  /** What may be put, if nothing stands in its way. */
  readonly candidate: DesiredDocument | undefined
  readonly isHeld: boolean
}

type Owners = ReadonlyMap<string, Claimant<ApiSpecificationResource>>

/** How documents stand to each other. */
interface Outcome extends Settled {
  readonly owners: Owners
  readonly lostHosts: LostHosts
}

export class DocumentBook {
  readonly #reads = new Memo<ReadDocument>()
  readonly #judgements = new Memo<DocumentJudgement>()
  readonly #verdicts = new Memo<Verdict>()
  readonly #settlement = new Settlement()
  readonly #lastGood = new LastGoodVersions()
  readonly #hosts: HostOwners | undefined

  /** @param ownership shared: any namespace may claim what another has */
  constructor(ownership: 'strict' | 'shared') {
    this.#hosts = ownership === 'strict' ? new HostOwners() : undefined
  }

  judge(resources: Specifications, surroundings: Surroundings): JudgedDocuments {
    this.#lastGood.begin(resources)
    for (const memo of [this.#reads, this.#judgements, this.#verdicts]) memo.retain(resources)
    const asked = [...resources].map(([key, resource]) =>
      this.#judgeOne(key, resource, surroundings),
    )
    const first = this.#settle(asked)
    // Whoever may not have the id it names goes on serving under the one it had.
    const refused = new Set(asked.filter((each) => isRefusedRename(each, first)))
    const judged = refused.size === 0 ? asked : asked.map((each) => stay(each, refused.has(each)))
    const outcome = refused.size === 0 ? first : this.#settle(judged)
    const { owners, documents } = outcome
    this.#lastGood.settle(owners, documents)
    const kept = new Set([...owners.keys()].filter((id) => !documents.has(id)))
    return {
      ...{ served: documents, kept },
      verdicts: new Map(
        judged.map((each, i) => {
          const before = asked[i]
          const why = before !== undefined && refused.has(before) ? first : outcome
          return [each.key, this.#verdict(before ?? each, why, owners)]
        }),
      ),
      nameless: judged.flatMap(({ id, resource }) => (id === '' ? [resource] : [])),
      missing: this.#lastGood.missing(judged, outcome),
    }
  }

  /** @returns whether it is the version that was missing; then the same cache is to be judged again */
  recover(version: MissingVersion, document: ValueMap, cache: ResourceCache): boolean {
    return this.#lastGood.recover(version, document, cache)
  }

  #judgeOne(
    key: string,
    resource: ApiSpecificationResource,
    { cache, access: accessOf, grant: grantOf }: Surroundings,
  ): Judged {
    const { checked, metadata } = resource
    const { namespace, uid, generation, createdAt } = metadata
    const own = [checked, uid, generation, createdAt]
    const read = this.#reads.get(key, [...own, documentInput(resource, cache)], () =>
      readDocument(resource, cache),
    )
    const realmUri = 'document' in read ? read.realmUri : undefined
    const access = accessOf(realmUri ?? '', namespace)
    const grant = grantOf(namespace)
    const inputs = [read, grant, ...variableInputs(resource, cache), ...accessInputs(access)]
    const judgement = this.#judgements.get(key, [...own, ...inputs], () =>
      judgeDocument(resource, read, { variables: readVariables(resource, cache), access, grant }),
    )
    const lastGood = this.#lastGood.of(key, resource, judgement.version)
    const isHeld = isPaused(resource)
    const readId = 'document' in read ? read.id : undefined
    // A version that is not good does not rename: the id that serves stays with its resource.
    const lastId = lastGood?.document.id
    const id = judgement.good === undefined || isHeld ? (lastId ?? readId) : readId
    const candidate = judgement.good?.id === id ? judgement.good : undefined
    return { ...{ key, resource, id: id ?? '', lastId, read, judgement }, candidate, isHeld }
  }

  #settle(judged: readonly Judged[]): Outcome {
    const owners = ownersOf(judged.filter(({ id }) => id !== ''))
    const standing = judged
      .filter(({ key, id }) => owners.get(id)?.key === key)
      .map((each) => ({ ...each, lastGood: this.#lastGood.get(each.key)?.document }))
    const lostHosts = this.#hosts?.settle(standing) ?? NO_LOST_HOSTS
    const applicants = new Map<string, Applicant>()
    for (const { key, id, candidate, lastGood, isHeld } of standing) {
      const wanted = lostHosts.has(key) ? undefined : candidate
      applicants.set(id, { id, candidate: wanted, lastGood, isHeld })
    }
    return { owners, lostHosts, ...this.#settlement.settle(applicants) }
  }

  /** @param owners in the end: whose version serves */
  #verdict(
    judged: Judged,
    { owners: asked, lostHosts, clashes }: Outcome,
    owners: Owners,
  ): Verdict {
    const { key, resource, id, read, judgement, isHeld } = judged
    const owner = asked.get(id)
    const isOwner = owner?.key === key
    const isHostLost = lostHosts.has(key)
    const lost = isOwner && !isHostLost ? (clashes.get(id) ?? NO_CLASHES) : NO_CLASHES
    const lastGood = this.#lastGood.get(key)
    const winners = lost.map(({ winnerId }) => owners.get(winnerId)?.resource)
    const serving =
      lastGood === undefined ? recordedServing(resource, isOwner) : servingOf(lastGood)
    const inputs = [resource, read, judgement, owner?.resource, lastGood, isHostLost]
    return this.#verdicts.get(key, [...inputs, ...lost.map(clashText), ...winners], () =>
      documentVerdict(resource, judgement, {
        id: lastGood?.document.id ?? id,
        ...('document' in read && { host: read.host, realmUri: read.realmUri }),
        owner: isOwner ? undefined : owner,
        clashes: lost.map((clash, i) => ({ problem: problemOf(clash), winner: winners[i] })),
        ...{ isHostLost, serving },
        isHeld: isHeld && waits(judgement.good, lastGood?.document),
      }),
    )
  }
}

const NO_CLASHES: readonly Clash[] = []
const NO_LOST_HOSTS: LostHosts = new Map()

const accessInputs = (access: RealmAccess): readonly unknown[] => [
  access.access,
  access.access === 'granted' ? access.realm : undefined,
  access.access === 'unready' ? access.name : undefined,
]

const isRefusedRename = (judged: Judged, { owners, lostHosts, documents }: Outcome): boolean =>
  isRenamed(judged) &&
  (owners.get(judged.id)?.key !== judged.key ||
    lostHosts.has(judged.key) ||
    documents.get(judged.id) !== judged.candidate)

const stay = (judged: Judged, isRefused: boolean): Judged =>
  isRefused ? { ...judged, id: judged.lastId ?? '', candidate: undefined } : judged

/** Paused: what it is now is another version than what serves. */
const waits = (good: DesiredDocument | undefined, lastGood: DesiredDocument | undefined): boolean =>
  good !== undefined &&
  (good.digest !== lastGood?.digest ||
    JSON.stringify(good.selector) !== JSON.stringify(lastGood.selector))

const problemOf = ({ claim, winnerId }: Clash): Problem => conflictProblem(claim, winnerId)

const clashText = (clash: Clash): string => JSON.stringify(problemOf(clash))

const servingOf = ({ document, generation }: LastGood): Serving => ({
  generation,
  digest: document.digest,
})

/** After a restart: data planes were last seen to hold it, and nobody has told them otherwise. */
const recordedServing = (
  { programmed }: ApiSpecificationResource,
  isOwner: boolean,
): Serving | undefined => (isOwner ? programmed : undefined)
