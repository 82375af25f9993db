// The Realms of one cache after another in; which record each uri has, and what there is to say of every
// Realm, out. Remembers judgements and the last good version of each resource, nothing else.

import type { Problem } from '../../spec/problem.ts'
import type { ResourceCache } from '../resource/resource-source.ts'
import type { RealmResource } from '../resource/resource.ts'
import { conflicted } from './findings.ts'
import type { RealmAccess } from './judge-document.ts'
import { type GoodRealm, judgeRealm, type RealmJudgement, realmInputs } from './judge-realm.ts'
import { Memo } from './memo.ts'
import { type Claimant, ownedWords, ownersOf } from './owners.ts'
import { admitsNamespace } from './realm-access.ts'
import type { Verdict } from './verdict.ts'

export interface JudgedRealms {
  /** uri → the version that is to be put. */
  readonly served: ReadonlyMap<string, GoodRealm>
  /** Uris that have a Realm, and no version to put. */
  readonly kept: ReadonlySet<string>
  /** By key of the resource. */
  readonly verdicts: ReadonlyMap<string, Verdict>
  /** Realms of which not even the uri can be told. */
  readonly nameless: readonly RealmResource[]
  access(uri: string, namespace: string): RealmAccess
}

interface Judged {
  readonly key: string
  readonly resource: RealmResource
  readonly judgement: RealmJudgement
  readonly uri: string | undefined
}

export class RealmBook {
  readonly #judgements = new Memo<RealmJudgement>()
  readonly #verdicts = new Memo<Verdict>()
  /** By key of the resource. */
  readonly #lastGood = new Map<string, GoodRealm>()

  judge(resources: ReadonlyMap<string, RealmResource>, cache: ResourceCache): JudgedRealms {
    const judged = [...resources].map(([key, resource]) => this.#judgeOne(key, resource, cache))
    const judgements = new Map(judged.map(({ key, judgement }) => [key, judgement]))
    const owners = ownersOf(judged.filter(isNamed))
    const served = new Map<string, GoodRealm>()
    const kept = new Set<string>()
    for (const { key, id } of owners.values()) {
      const good = this.#latest(key, id, judgements.get(key)?.good)
      if (good === undefined) kept.add(id)
      else served.set(id, good)
    }
    this.#forget(resources, owners)
    const verdicts = new Map(judged.map((each) => [each.key, this.#verdict(each, owners, served)]))
    const nameless = judged.flatMap(({ uri, resource }) => (uri === undefined ? [resource] : []))
    const access = (uri: string, namespace: string): RealmAccess =>
      accessOf(served.get(uri), owners.get(uri)?.resource, namespace, cache)
    return { served, kept, verdicts, nameless, access }
  }

  #judgeOne(key: string, resource: RealmResource, cache: ResourceCache): Judged & { id: string } {
    const inputs = realmInputs(resource, cache)
    const judgement = this.#judgements.get(key, inputs, () => judgeRealm(resource, cache))
    const lastUri = this.#lastGood.get(key)?.desired.uri
    // A version that is not good does not rename: the uri that serves stays with its resource.
    const uri = judgement.good === undefined ? (lastUri ?? judgement.uri) : judgement.uri
    return { key, resource, judgement, uri, id: uri ?? '' }
  }

  /** The newest good version of an owner; a good one is remembered. */
  #latest(key: string, uri: string, good: GoodRealm | undefined): GoodRealm | undefined {
    if (good !== undefined) this.#lastGood.set(key, good)
    const latest = this.#lastGood.get(key)
    return latest?.desired.uri === uri ? latest : undefined
  }

  #forget(
    resources: ReadonlyMap<string, RealmResource>,
    owners: ReadonlyMap<string, Claimant<RealmResource>>,
  ): void {
    this.#judgements.retain(resources)
    this.#verdicts.retain(resources)
    for (const [key, good] of this.#lastGood) {
      if (owners.get(good.desired.uri)?.key !== key) this.#lastGood.delete(key)
    }
  }

  #verdict(
    { key, resource, judgement, uri }: Judged,
    owners: ReadonlyMap<string, Claimant<RealmResource>>,
    served: ReadonlyMap<string, GoodRealm>,
  ): Verdict {
    const owner = uri === undefined ? undefined : owners.get(uri)
    const isOwner = owner?.key === key
    const good = isOwner && uri !== undefined ? served.get(uri) : undefined
    return this.#verdicts.get(key, [resource, judgement, owner?.resource, good], () => {
      const clash = owner === undefined || isOwner ? undefined : owner.resource
      return verdictOf(resource, judgement, { uri, clash, good })
    })
  }
}

interface Standing {
  readonly uri: string | undefined
  /** The older Realm with the same uri. */
  readonly clash: RealmResource | undefined
  readonly good: GoodRealm | undefined
}

const verdictOf = (
  resource: RealmResource,
  judgement: RealmJudgement,
  { uri, clash, good }: Standing,
): Verdict => {
  const message = clash && ownedWords(`the uri '${uri ?? ''}'`, resource, clash)
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
  }
}

const accessOf = (
  good: GoodRealm | undefined,
  owner: RealmResource | undefined,
  namespace: string,
  cache: ResourceCache,
): RealmAccess => {
  if (good !== undefined) {
    return admitsNamespace(good, namespace, cache)
      ? { access: 'granted', realm: good }
      : { access: 'RefNotPermitted' }
  }
  if (owner?.metadata.namespace !== namespace) return { access: 'RealmNotFound' }
  return { access: 'unready', name: owner.metadata.name }
}

const isNamed = (judged: Judged & { id: string }): boolean => judged.uri !== undefined
