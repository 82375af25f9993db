// The Realms of one cache after another in; which record each uri has, and what there is to say of every
// Realm, out. Remembers judgements and the last good version of each resource, nothing else.

import type { Problem } from '../../spec/problem.ts'
import type { ResourceCache } from '../resource/resource-source.ts'
import { isPaused, type RealmResource } from '../resource/resource.ts'
import { conflicted } from './findings.ts'
import type { RealmAccess } from './judge-document.ts'
import {
  type GoodRealm,
  judgeRealm,
  type RealmJudgement,
  realmInputs,
  secretNames,
} from './judge-realm.ts'
import { mayRealmBeHeld } from './may-be-held.ts'
import { Memo } from './memo.ts'
import { type Claimant, isRenamed, ownedWords, ownersOf } from './owners.ts'
import { admitsNamespace } from './realm-access.ts'
import { Titles } from './titles.ts'
import type { Verdict } from './verdict.ts'

export interface JudgedRealms {
  /** uri → the version that is to be put. */
  readonly served: ReadonlyMap<string, GoodRealm>
  /** Uris that have no version to put, and a Realm that may have brought them into service. */
  readonly kept: ReadonlySet<string>
  /** By key of the resource. */
  readonly verdicts: ReadonlyMap<string, Verdict>
  /** Realms of which not even the uri can be told. */
  readonly nameless: readonly RealmResource[]
  access(uri: string, namespace: string): RealmAccess
}

interface Judged extends Claimant<RealmResource> {
  readonly judgement: RealmJudgement
  readonly uri: string | undefined
  /** What may be put now: nothing new while it is paused. */
  readonly good: GoodRealm | undefined
  /** It has named another's uri, and keeps the one it had. */
  readonly refusedBy?: Claimant<RealmResource>
}

export class RealmBook {
  readonly #secretNames = new Memo<readonly string[]>()
  readonly #judgements = new Memo<RealmJudgement>()
  readonly #goods = new Memo<GoodRealm | undefined>()
  readonly #verdicts = new Memo<Verdict>()
  /** By key of the resource. */
  readonly #lastGood = new Map<string, GoodRealm>()
  readonly #titles = new Titles<RealmResource>(mayRealmBeHeld)

  judge(resources: ReadonlyMap<string, RealmResource>, cache: ResourceCache): JudgedRealms {
    const judged = withoutRefused(
      [...resources].map(([key, resource]) => this.#judgeOne(key, resource, cache)),
    )
    const owners = ownersOf(judged.filter(({ uri }) => uri !== undefined))
    const served = new Map<string, GoodRealm>()
    for (const each of judged) {
      if (owners.get(each.id)?.key !== each.key) continue
      const good = this.#latest(each)
      if (good !== undefined) served.set(each.id, good)
    }
    const kept = this.#titles.keep(judged, owners, served)
    this.#forget(resources, owners)
    const verdicts = new Map(judged.map((each) => [each.key, this.#verdict(each, owners, served)]))
    const nameless = judged.flatMap(({ uri, resource }) => (uri === undefined ? [resource] : []))
    const access = (uri: string, namespace: string): RealmAccess =>
      accessOf(served.get(uri), owners.get(uri)?.resource, namespace, cache)
    return { served, kept, verdicts, nameless, access }
  }

  #judgeOne(key: string, resource: RealmResource, cache: ResourceCache): Judged {
    const names = this.#secretNames.get(key, [resource.checked], () => secretNames(resource))
    const inputs = realmInputs(resource, names, cache)
    const judgement = this.#judgements.get(key, inputs, () => judgeRealm(resource, cache))
    if (this.#lastGood.get(key)?.uid !== resource.metadata.uid) this.#lastGood.delete(key)
    if (judgement.good !== undefined && isPaused(resource) && wasServed(resource)) {
      this.#lastGood.set(key, this.#lastGood.get(key) ?? judgement.good)
    }
    const lastGood = this.#lastGood.get(key)
    const latest = this.#goods.get(key, [judgement.good], () => carryOver(lastGood, judgement.good))
    const good = isPaused(resource) ? undefined : latest
    // A version that is not good does not rename: the uri that serves stays with its resource.
    const lastUri = lastGood?.desired.uri
    const uri = good === undefined ? (lastUri ?? judgement.uri) : judgement.uri
    return { key, resource, judgement, uri, id: uri ?? '', lastId: lastUri, good }
  }

  /** The newest good version of an owner; a good one is remembered. */
  #latest({ key, id, good }: Judged): GoodRealm | undefined {
    if (good !== undefined) this.#lastGood.set(key, good)
    const latest = this.#lastGood.get(key)
    return latest?.desired.uri === id ? latest : undefined
  }

  #forget(
    resources: ReadonlyMap<string, RealmResource>,
    owners: ReadonlyMap<string, Claimant<RealmResource>>,
  ): void {
    const memos = [this.#secretNames, this.#judgements, this.#goods, this.#verdicts]
    for (const memo of memos) memo.retain(resources)
    for (const [key, good] of this.#lastGood) {
      if (owners.get(good.desired.uri)?.key !== key) this.#lastGood.delete(key)
    }
  }

  #verdict(
    { key, resource, judgement, uri, refusedBy }: Judged,
    owners: ReadonlyMap<string, Claimant<RealmResource>>,
    served: ReadonlyMap<string, GoodRealm>,
  ): Verdict {
    const owner = uri === undefined ? undefined : owners.get(uri)
    const isOwner = owner?.key === key
    const good = isOwner && uri !== undefined ? served.get(uri) : undefined
    const isHeld = isPaused(resource) && judgement.good?.desired.digest !== good?.desired.digest
    const winner = refusedBy ?? (isOwner ? undefined : owner)
    return this.#verdicts.get(key, [resource, judgement, winner?.resource, good], () =>
      verdictOf(resource, judgement, { uri, winner, good, isHeld }),
    )
  }
}

/**
 * An operator before us wrote that this very generation is in service: while it was paused nothing else came after it,
 * but for a Secret that changed while there was no operator.
 */
const wasServed = ({ conditions = [], metadata: { generation } }: RealmResource): boolean => {
  const current = conditions.filter(({ observedGeneration }) => observedGeneration === generation)
  const reasons = new Map<string, string>(current.map(({ type, reason }) => [type, reason]))
  const ready = reasons.get('Ready')
  return reasons.get('Accepted') === 'Accepted' && (ready === 'Ready' || ready === 'Unreachable')
}

interface Standing {
  readonly uri: string | undefined
  /** Who owns the uri that it names. */
  readonly winner: Claimant<RealmResource> | undefined
  readonly good: GoodRealm | undefined
  readonly isHeld: boolean
}

const verdictOf = (
  resource: RealmResource,
  judgement: RealmJudgement,
  { uri, winner, good, isHeld }: Standing,
): Verdict => {
  const message = winner && ownedWords(`the uri '${winner.id}'`, resource, winner.resource)
  const conflict: Problem | undefined =
    message === undefined ? undefined : { code: 'conflict', path: '/spec/uri', message }
  return {
    resource,
    accepted: message === undefined ? judgement.accepted : conflicted(message),
    resolvedRefs: judgement.resolvedRefs,
    errors: conflict === undefined ? judgement.errors : [conflict, ...judgement.errors],
    warnings: [],
    ...(uri !== undefined && { id: uri }),
    ...(judgement.good !== undefined && { digest: judgement.good.desired.digest }),
    ...(good !== undefined && {
      serving: { generation: good.generation, digest: good.desired.digest },
    }),
    ...(isHeld && { isHeld }),
  }
}

/**
 * Whoever names another's uri keeps the one it had: what serves is not deleted for that. What it keeps may be what
 * a third one has named: each turn refuses one more at least.
 */
const withoutRefused = (asked: readonly Judged[]): readonly Judged[] => {
  let judged = asked
  for (;;) {
    if (!judged.some(isRenamed)) return judged
    const owners = ownersOf(judged)
    const next = judged.map((each) => stayIfRefused(each, owners.get(each.id)))
    if (next.every((each, i) => each === judged[i])) return judged
    judged = next
  }
}

const stayIfRefused = (judged: Judged, owner: Claimant<RealmResource> | undefined): Judged =>
  !isRenamed(judged) || owner === undefined || owner.key === judged.key
    ? judged
    : {
        ...judged,
        ...{ id: judged.lastId ?? '', uri: judged.lastId, good: undefined, refusedBy: owner },
      }

/** What says the same is the same object: a new Secret of a realm must not look like news to its documents. */
const carryOver = (
  before: GoodRealm | undefined,
  good: GoodRealm | undefined,
): GoodRealm | undefined => {
  if (before === undefined || good === undefined || before === good) return good
  const isSame = JSON.stringify(before.terms) === JSON.stringify(good.terms)
  const desired = before.desired.digest === good.desired.digest ? before.desired : good.desired
  return { ...good, desired, terms: isSame ? before.terms : good.terms }
}

const accessOf = (
  good: GoodRealm | undefined,
  owner: RealmResource | undefined,
  namespace: string,
  cache: ResourceCache,
): RealmAccess => {
  if (good !== undefined) {
    return admitsNamespace(good, namespace, cache)
      ? { access: 'granted', realm: good.terms }
      : { access: 'RefNotPermitted' }
  }
  if (owner === undefined || !mayUse(owner, namespace, cache)) return { access: 'RealmNotFound' }
  const { name, namespace: home } = owner.metadata
  return { access: 'unready', realm: { namespace: home, name, isPaused: isPaused(owner) } }
}

const mayUse = (
  { checked, metadata }: RealmResource,
  namespace: string,
  cache: ResourceCache,
): boolean =>
  metadata.namespace === namespace ||
  ('spec' in checked &&
    admitsNamespace({ namespace: metadata.namespace, spec: checked.spec }, namespace, cache))
