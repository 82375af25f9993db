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
import { type HostClaimant, HostOwners, type LostHosts } from './host-owners.ts'
import {
  accessInputs,
  type DocumentJudgement,
  judgeDocument,
  type RealmAccess,
} from './judge-document.ts'
import { type LastGood, LastGoodVersions } from './last-good.ts'
import { Memo } from './memo.ts'
import { mayDocumentBeHeld } from './may-be-held.ts'
import type { MissingVersion } from './missing-version.ts'
import { type Claimant, isRenamed, ownersOf } from './owners.ts'
import { documentInput, readDocument, type ReadDocument } from './read-document.ts'
import { readVariables, variableInputs } from './read-variables.ts'
import { type Applicant, sameEntries, Settlement, type Settled } from './settlement.ts'
import { Titles } from './titles.ts'
import type { Serving, Verdict } from './verdict.ts'

export interface JudgedDocuments {
  /** id → the version that is to be put. The same map where nothing changed. */
  readonly served: ReadonlyMap<string, DesiredDocument>
  /** Ids that have no version to put, and a resource that may have brought them into service. */
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
  /** Nothing but ApiSpecifications has changed since the last time. */
  readonly isSame: boolean
}

type Specifications = ReadonlyMap<string, ApiSpecificationResource>

interface Judged extends Claimant<ApiSpecificationResource>, HostClaimant, Applicant {
  readonly read: ReadDocument
  readonly judgement: DocumentJudgement
}

/** A verdict that rests on nothing but the resource itself. */
interface Told {
  readonly judged: Judged
  readonly lastGood: LastGood | undefined
  readonly verdict: Verdict
}

type Owners = ReadonlyMap<string, Claimant<ApiSpecificationResource>>

/** How documents stand to each other. */
interface Outcome extends Settled {
  readonly owners: Owners
  readonly lostHosts: LostHosts
}

interface Renames {
  /** As they are in the end. */
  readonly judged: readonly Judged[]
  readonly outcome: Outcome
  /** As they asked → what refused them. */
  readonly refused: ReadonlyMap<Judged, Outcome>
}

export class DocumentBook {
  readonly #reads = new Memo<ReadDocument>()
  readonly #judgements = new Memo<DocumentJudgement>()
  readonly #verdicts = new Memo<Verdict>()
  #asked: ReadonlyMap<string, Judged> = new Map()
  readonly #told = new Map<string, Told>()
  readonly #settlement = new Settlement()
  /** What was last given out: a refused rename is settled twice each time, and comes out the same. */
  #served: ReadonlyMap<string, DesiredDocument> = new Map()
  readonly #lastGood = new LastGoodVersions()
  readonly #titles = new Titles<ApiSpecificationResource>(mayDocumentBeHeld)
  readonly #hosts: HostOwners | undefined

  /** @param ownership shared: any namespace may claim what another has */
  constructor(ownership: 'strict' | 'shared') {
    this.#hosts = ownership === 'strict' ? new HostOwners() : undefined
  }

  judge(resources: Specifications, surroundings: Surroundings): JudgedDocuments {
    this.#lastGood.begin(resources)
    const asked = this.#judgeAll(resources, surroundings)
    const { judged, outcome, refused } = this.#settleRenames(asked)
    const { owners } = outcome
    if (!sameEntries(outcome.documents, this.#served)) this.#served = outcome.documents
    const documents = this.#served
    this.#lastGood.settle(owners, documents)
    const verdicts = new Map<string, Verdict>()
    for (const each of asked) {
      verdicts.set(each.key, this.#verdict(each, refused.get(each) ?? outcome, owners))
    }
    return {
      ...{ served: documents, kept: this.#titles.keep(judged, owners, documents), verdicts },
      nameless: judged.flatMap(({ id, resource }) => (id === '' ? [resource] : [])),
      missing: this.#lastGood.missing(judged, outcome, surroundings.cache),
    }
  }

  /** @returns whether it is the version that was missing; then the same cache is to be judged again */
  recover(version: MissingVersion, document: ValueMap, cache: ResourceCache): boolean {
    return this.#lastGood.recover(version, document, cache)
  }

  #judgeAll(resources: Specifications, surroundings: Surroundings): readonly Judged[] {
    for (const memo of [this.#reads, this.#judgements, this.#verdicts]) memo.retain(resources)
    for (const key of this.#told.keys()) if (!resources.has(key)) this.#told.delete(key)
    const asked = new Map<string, Judged>()
    for (const [key, resource] of resources) {
      const before = surroundings.isSame ? this.#asked.get(key) : undefined
      const isSame =
        before?.resource === resource && before.lastGood === this.#lastGood.get(key)?.document
      asked.set(key, isSame ? before : this.#judgeOne(key, resource, surroundings))
    }
    this.#asked = asked
    return [...asked.values()]
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
    const isRecorded = resource.programmed !== undefined
    const surroundings = [...variableInputs(resource, cache), ...accessInputs(access)]
    const inputs = [read, grant, isRecorded, ...surroundings]
    const judgement = this.#judgements.get(key, [...own, ...inputs], () =>
      judgeDocument(resource, read, { variables: readVariables(resource, cache), access, grant }),
    )
    const lastGood = this.#lastGood.of(key, resource, judgement.version)?.document
    const isHeld = isPaused(resource)
    const readId = 'document' in read ? read.id : undefined
    // A version that is not good does not rename: the id that serves stays with its resource.
    const lastId = lastGood?.id
    const id = judgement.good === undefined || isHeld ? (lastId ?? readId) : readId
    const candidate = judgement.good?.id === id ? judgement.good : undefined
    const named = { key, resource, id: id ?? '', lastId }
    return { ...named, read, judgement, candidate, lastGood, isHeld }
  }

  /**
   * Whoever may not have the id it names goes on serving under the one it had. What that takes back may refuse
   * another's: each turn refuses one more at least, so there are no more turns than documents.
   */
  #settleRenames(asked: readonly Judged[]): Renames {
    const refused = new Map<Judged, Outcome>()
    let judged = asked
    for (;;) {
      const outcome = this.#settle(judged)
      const more = judged.filter((each) => isRefusedRename(each, outcome))
      if (more.length === 0) return { judged, outcome, refused }
      for (const each of more) refused.set(each, outcome)
      judged = asked.map((each) => (refused.has(each) ? stay(each) : each))
    }
  }

  /**
   * Who has a host depends on who is accepted, and who is accepted on who has the host. So whoever loses a path or a
   * host, and keeps a host from others or serves one that it was to leave, is refused for good, the oldest first, and
   * all is settled again: each turn refuses one more. What serves keeps its hosts, so the next time it is the same.
   * A crowd in the way is refused in growing parts: turns without end would hold up everybody.
   */
  #settle(judged: readonly Judged[]): Outcome {
    const owners = ownersOf(judged.filter(({ id }) => id !== ''))
    const standing = judged.filter(({ key, id }) => owners.get(id)?.key === key)
    const refused = new Set<string>()
    for (let turn = 0; ; turn += 1) {
      const lostHosts = this.#hosts?.settle(standing, refused) ?? NO_LOST_HOSTS
      const settled = this.#settlement.settle(applicantsOf(standing, lostHosts))
      const losers = standing.filter(
        ({ key, id }) => !refused.has(key) && (settled.clashes.has(id) || lostHosts.has(key)),
      )
      const inTheWay = this.#hosts?.inTheWay(losers) ?? []
      if (inTheWay.length === 0) return { owners, lostHosts, ...settled }
      for (const { key } of inTheWay.slice(0, refusalsOf(turn))) refused.add(key)
    }
  }

  /** @param owners in the end: whose version serves */
  #verdict(judged: Judged, outcome: Outcome, owners: Owners): Verdict {
    const { key, id } = judged
    const isOwner = outcome.owners.get(id)?.key === key
    const isPlain = isOwner && !outcome.lostHosts.has(key) && !outcome.clashes.has(id)
    if (!isPlain) {
      this.#told.delete(key)
      return this.#compare(judged, outcome, owners)
    }
    const lastGood = this.#lastGood.get(key)
    const told = this.#told.get(key)
    if (told?.judged === judged && told.lastGood === lastGood) return told.verdict
    const verdict = this.#compare(judged, outcome, owners)
    this.#told.set(key, { judged, lastGood, verdict })
    return verdict
  }

  #compare(
    { key, resource, id, read, judgement, isHeld }: Judged,
    { owners: asked, lostHosts, clashes }: Outcome,
    owners: Owners,
  ): Verdict {
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

/** One by one is exact; with hundreds each turn costs as long as all else together. */
const refusalsOf = (turn: number): number => 2 ** Math.max(0, turn - EXACT_TURNS)
const EXACT_TURNS = 16

const applicantsOf = (
  standing: readonly Judged[],
  lostHosts: LostHosts,
): ReadonlyMap<string, Applicant> =>
  new Map(
    standing.map((each) => [
      each.id,
      lostHosts.has(each.key) ? { ...each, candidate: undefined } : each,
    ]),
  )

const NO_CLASHES: readonly Clash[] = []
const NO_LOST_HOSTS: LostHosts = new Map()

const isRefusedRename = (judged: Judged, { owners, lostHosts, documents }: Outcome): boolean =>
  isRenamed(judged) &&
  (owners.get(judged.id)?.key !== judged.key ||
    lostHosts.has(judged.key) ||
    documents.get(judged.id) !== judged.candidate)

const stay = (judged: Judged): Judged => ({
  ...judged,
  id: judged.lastId ?? '',
  candidate: undefined,
})

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
