// The ApiSpecifications of one cache after another in; which document each id has, and what there is to say
// of every resource, out. Remembers validations and the last good version of each resource, nothing else.

import type { ValueMap } from '../../../language/expression/value.ts'
import type { DesiredDocument } from '../../desired-set.ts'
import type { ResourceCache } from '../../resource/resource-source.ts'
import type { ApiSpecificationResource } from '../../resource/resource.ts'
import type { DocumentCompiler } from './compile-document.ts'
import { confinementOf } from '../claims/destination-policies.ts'
import { DocumentQuotas } from './document-quotas.ts'
import { HostOwners, type LostHosts } from '../claims/host-owners.ts'
import {
  accessInputs,
  type ApiSpecificationValidation,
  validateApiSpecification,
} from './validate-api-specification.ts'
import {
  clashText,
  type ValidatedDocument,
  toValidatedDocument,
  NO_LOST_HOSTS,
  type ClaimResolution,
  type Owners,
  placeOf,
  verdictAt,
} from './validated-document.ts'
import { type LastGood, LastGoodVersions } from './last-good.ts'
import { Memo } from '../memo.ts'
import { mayDocumentBeHeld } from '../may-be-held.ts'
import type { MissingVersion } from './missing-version.ts'
import { ownersOf } from '../claims/owners.ts'
import {
  type DocumentStanding,
  previewDocument,
  type PreviewSurroundings,
} from './preview-document.ts'
import type { Amounts } from '../quotas/quota-amounts.ts'
import { documentInput, readDocument, type ReadDocument } from './read-document.ts'
import { readVariables, variableInputs } from './read-variables.ts'
import { refusedRenames } from './refused-renames.ts'
import { type Applicant, sameEntries, Settlement } from '../claims/settlement.ts'
import type { Surroundings } from '../surroundings.ts'
import { Titles } from '../claims/titles.ts'
import type { Verdict } from '../verdict.ts'

export interface ValidatedDocuments {
  /** id → the version that is to be put. The same map where nothing changed. */
  readonly served: ReadonlyMap<string, DesiredDocument>
  /** Ids that have no version to put, and a resource that may have brought them into service. */
  readonly kept: ReadonlySet<string>
  readonly verdicts: ReadonlyMap<string, Verdict>
  /** Resources of which not even the id can be told. */
  readonly nameless: readonly ApiSpecificationResource[]
  /** The same list where nothing changed. */
  readonly missing: readonly MissingVersion[]
  /** What is put now leaves room in a quota for what was refused: the same again has another outcome. */
  readonly isOpen: boolean
}

type Specifications = ReadonlyMap<string, ApiSpecificationResource>

/** A verdict that rests on nothing but the resource itself. */
interface Told {
  readonly validated: ValidatedDocument
  readonly lastGood: LastGood | undefined
  readonly verdict: Verdict
}

interface Renames {
  /** As they are in the end. */
  readonly validated: readonly ValidatedDocument[]
  readonly outcome: ClaimResolution
  /** As they asked → what refused them. */
  readonly refused: ReadonlyMap<ValidatedDocument, ClaimResolution>
}

export class DocumentBook {
  readonly #reads = new Memo<ReadDocument>()
  readonly #validations = new Memo<ApiSpecificationValidation>()
  readonly #verdicts = new Memo<Verdict>()
  #asked: ReadonlyMap<string, ValidatedDocument> = new Map()
  readonly #told = new Map<string, Told>()
  readonly #settlement = new Settlement()
  #standing: Pick<DocumentStanding, 'validated' | 'outcome'> | undefined
  /** What was last given out: a refused rename is settled twice each time, and comes out the same. */
  #served: ReadonlyMap<string, DesiredDocument> = new Map()
  readonly #lastGood: LastGoodVersions
  readonly #titles = new Titles<ApiSpecificationResource>(mayDocumentBeHeld)
  readonly #hosts: HostOwners | undefined
  readonly #quotas = new DocumentQuotas()
  readonly #compiler: DocumentCompiler

  /** @param ownership shared: any namespace may claim what another has */
  constructor(ownership: 'strict' | 'shared', compiler: DocumentCompiler) {
    this.#compiler = compiler
    this.#lastGood = new LastGoodVersions(compiler)
    this.#hosts = ownership === 'strict' ? new HostOwners() : undefined
  }

  validate(resources: Specifications, surroundings: Surroundings): ValidatedDocuments {
    this.#lastGood.begin(resources)
    const asked = this.#validateAll(resources, surroundings)
    const { validated, outcome, refused } = this.#settleRenames(asked)
    this.#standing = { validated, outcome }
    const { owners } = outcome
    if (!sameEntries(outcome.documents, this.#served)) this.#served = outcome.documents
    const documents = this.#served
    this.#lastGood.settle(owners, documents)
    const verdicts = new Map<string, Verdict>()
    for (const each of asked) {
      verdicts.set(each.key, this.#verdict(each, refused.get(each) ?? outcome, owners))
    }
    const isOpen =
      this.#quotas.hasRefusals && this.#settleQuotas(resources, { ...surroundings, isSame: true })
    return {
      isOpen,
      served: documents,
      kept: this.#titles.keep(validated, owners, documents),
      verdicts,
      nameless: validated.flatMap(({ id, resource }) => (id === '' ? [resource] : [])),
      missing: this.#lastGood.missing(validated, outcome, surroundings.cache),
    }
  }

  /**
   * Validates each for itself, and settles nothing. False: versions that serve are still being compiled, and without them
   * others would be given what is theirs.
   */
  prepare(resources: Specifications, surroundings: Surroundings): boolean {
    this.#lastGood.begin(resources)
    this.#validateAll(resources, surroundings)
    return !this.#compiler.isAwaitingServing()
  }

  /** Of its quota. */
  usedBy(namespace: string): Amounts {
    return this.#quotas.usedBy(namespace)
  }

  /** The verdict on a resource if it were the next to come, or to change; nothing is remembered. */
  preview(
    resource: ApiSpecificationResource,
    surroundings: PreviewSurroundings,
    compiler: DocumentCompiler,
  ): Verdict | undefined {
    if (this.#standing === undefined) return undefined
    const standing: DocumentStanding = {
      ...this.#standing,
      settlement: this.#settlement,
      hosts: this.#hosts,
      lastGood: (key) => this.#lastGood.get(key),
    }
    return previewDocument(resource, surroundings, standing, compiler)
  }

  /** @returns whether it is the version that was missing; then the same cache is to be validated again */
  recover(version: MissingVersion, document: ValueMap, cache: ResourceCache): Promise<boolean> {
    return this.#lastGood.recover(version, document, cache)
  }

  #validateAll(
    resources: Specifications,
    surroundings: Surroundings,
  ): readonly ValidatedDocument[] {
    for (const memo of [this.#reads, this.#validations, this.#verdicts]) memo.retain(resources)
    this.#compiler.retain(resources)
    for (const key of this.#told.keys()) if (!resources.has(key)) this.#told.delete(key)
    this.#settleQuotas(resources, surroundings)
    const asked = new Map<string, ValidatedDocument>()
    for (const [key, resource] of resources) {
      const before = this.#unchanged(key, resource, surroundings)
      const isSame =
        before !== undefined &&
        !before.isPending &&
        before.overQuota === this.#quotas.refusalOf(key, resource)
      asked.set(key, isSame ? before : this.#validateOne(key, resource, surroundings))
    }
    this.#asked = asked
    return [...asked.values()]
  }

  /** What was made of it the last time, where what it is made of is the same. */
  #unchanged(
    key: string,
    resource: ApiSpecificationResource,
    { isSame }: Surroundings,
  ): ValidatedDocument | undefined {
    const before = isSame ? this.#asked.get(key) : undefined
    return before?.resource === resource && before.lastGood === this.#lastGood.get(key)?.document
      ? before
      : undefined
  }

  /** @returns whether others are refused than before */
  #settleQuotas(resources: Specifications, surroundings: Surroundings): boolean {
    const { cache, quota } = surroundings
    if (quota === undefined) return false
    for (const [key, resource] of resources) {
      if (this.#unchanged(key, resource, surroundings) !== undefined) continue
      const read = this.#read(key, resource, cache)
      this.#quotas.put(key, resource, { read, cache, lastGood: this.#lastGood.get(key) })
    }
    return this.#quotas.settle(resources, quota, surroundings.isSame)
  }

  #read(key: string, resource: ApiSpecificationResource, cache: ResourceCache): ReadDocument {
    const inputs = [...ownInputs(resource), documentInput(resource, cache)]
    return this.#reads.get(key, inputs, () => readDocument(resource, cache))
  }

  #validateOne(
    key: string,
    resource: ApiSpecificationResource,
    surroundings: Surroundings,
  ): ValidatedDocument {
    const read = this.#read(key, resource, surroundings.cache)
    const overQuota = this.#quotas.refusalOf(key, resource)
    const validation = this.#validation(key, resource, read, { ...surroundings, overQuota })
    const lastGood = this.#lastGood.of(key, resource, validation.version)?.document
    return toValidatedDocument({ key, resource, read, validation, lastGood, overQuota })
  }

  #validation(
    key: string,
    resource: ApiSpecificationResource,
    read: ReadDocument,
    { cache, overQuota, ...of }: Surroundings & Pick<ValidatedDocument, 'overQuota'>,
  ): ApiSpecificationValidation {
    const { namespace } = resource.metadata
    const realmUri = 'document' in read ? read.realmUri : undefined
    const access = of.access(realmUri ?? '', namespace)
    const grant = of.grant(namespace)
    const destinations = of.destinations(namespace)
    const isRecorded = resource.programmed !== undefined
    const surroundings = [...variableInputs(resource, cache), ...accessInputs(access)]
    const own = [...ownInputs(resource), read, isRecorded, overQuota]
    const inputs = [...own, grant, destinations, ...surroundings]
    const validation = this.#validations.get(key, inputs, () =>
      validateApiSpecification(resource, read, {
        key,
        compiler: this.#compiler,
        access,
        grant,
        destinations,
        overQuota,
        variables: readVariables(resource, cache),
      }),
    )
    if (validation.isPending === true) this.#validations.forget(key)
    this.#lastGood.confine(key, confinementOf(destinations))
    return validation
  }

  /**
   * Whoever may not have the id it names goes on serving under the one it had. What that takes back may refuse
   * another's: each turn refuses one more at least, and after some turns whole namespaces (refused-renames.ts).
   */
  #settleRenames(asked: readonly ValidatedDocument[]): Renames {
    const refused = new Map<ValidatedDocument, ClaimResolution>()
    let validated = asked
    for (let turn = 0; ; turn += 1) {
      const outcome = this.#settle(validated)
      const more = refusedRenames(validated, outcome, turn)
      if (more.size === 0) return { validated, outcome, refused }
      for (const [each, seen] of more) refused.set(each, seen)
      validated = asked.map((each) => (refused.has(each) ? stay(each) : each))
    }
  }

  /**
   * Who has a host depends on who is accepted, and who is accepted on who has the host. So whoever loses a path or a
   * host, and keeps a host from others or serves one that it was to leave, is refused for good, the oldest first, and
   * all is settled again: each turn refuses one more. What serves keeps its hosts, so the next time it is the same.
   * A crowd in the way is refused in growing parts: turns without end would hold up everybody.
   */
  #settle(validated: readonly ValidatedDocument[]): ClaimResolution {
    const owners = ownersOf(validated.filter(({ id }) => id !== ''))
    const standing = validated.filter(({ key, id }) => owners.get(id)?.key === key)
    const refused = new Set<string>()
    for (let turn = 0; ; turn += 1) {
      const lostHosts = this.#hosts?.settle(standing, refused) ?? NO_LOST_HOSTS
      const settled = this.#settlement.settle(applicantsOf(standing, lostHosts))
      const losers = standing.filter(
        ({ key, id }) => !refused.has(key) && (settled.clashes.has(id) || lostHosts.has(key)),
      )
      const inTheWay = this.#hosts?.inTheWay(losers) ?? []
      if (inTheWay.length === 0) return { owners, lostHosts, refused, ...settled }
      for (const { key } of inTheWay.slice(0, refusalsOf(turn))) refused.add(key)
    }
  }

  /** @param owners in the end: whose version serves */
  #verdict(validated: ValidatedDocument, outcome: ClaimResolution, owners: Owners): Verdict {
    const { key, id } = validated
    const isOwner = outcome.owners.get(id)?.key === key
    const isPlain =
      isOwner &&
      !outcome.lostHosts.has(key) &&
      !outcome.clashes.has(id) &&
      outcome.entangled?.has(key) !== true
    if (!isPlain) {
      this.#told.delete(key)
      return this.#compare(validated, outcome, owners)
    }
    const lastGood = this.#lastGood.get(key)
    const told = this.#told.get(key)
    if (told?.validated === validated && told.lastGood === lastGood) return told.verdict
    const verdict = this.#compare(validated, outcome, owners)
    this.#told.set(key, { validated, lastGood, verdict })
    return verdict
  }

  #compare(validated: ValidatedDocument, outcome: ClaimResolution, owners: Owners): Verdict {
    const { key, resource, read, validation } = validated
    const place = placeOf(validated, outcome, owners)
    const { owner, isHostLost, isEntangled, lost, winners } = place
    const lastGood = this.#lastGood.get(key)
    const inputs = [resource, read, validation, owner?.resource, lastGood, isHostLost, isEntangled]
    return this.#verdicts.get(key, [...inputs, ...lost.map(clashText), ...winners], () =>
      verdictAt(validated, place, lastGood),
    )
  }
}

const ownInputs = ({ checked, metadata }: ApiSpecificationResource): readonly unknown[] => [
  checked,
  metadata.uid,
  metadata.generation,
  metadata.createdAt,
]

/** One by one is exact; with hundreds each turn costs as long as all else together. */
const refusalsOf = (turn: number): number => 2 ** Math.max(0, turn - EXACT_TURNS)
const EXACT_TURNS = 16

const applicantsOf = (
  standing: readonly ValidatedDocument[],
  lostHosts: LostHosts,
): ReadonlyMap<string, Applicant> =>
  new Map(
    standing.map((each) => [
      each.id,
      lostHosts.has(each.key) ? { ...each, candidate: undefined } : each,
    ]),
  )

const stay = (validated: ValidatedDocument): ValidatedDocument => ({
  ...validated,
  id: validated.lastId ?? '',
  candidate: undefined,
})
