// Maintains a webhook configuration that trusts the CAs of our certificates. Creates it where it is missing, recreates
// it where this operator would make another than it was made from, and otherwise updates only the CAs. Only while this
// operator leads. Changes by others are reported, and never undone.

import { TaskLoop } from '../../base/task-loop.ts'
import { mapAt, memberAt } from '../../language/expression/members.ts'
import { createHash } from 'node:crypto'
import { messageOf } from '../../base/thrown.ts'
import { isList, isMap, type Value, type ValueMap } from '../../language/expression/value.ts'
import type { Log } from '../../telemetry/log.ts'
import type { Clock } from '../../base/clock.ts'
import { isApiError, type KubernetesApi, type ResourceType } from '../kubernetes/client/api.ts'
import { GROUP } from '../resource/resource.ts'
import { encodeBundle } from './webhook-configuration.ts'
import { isSameValue } from '../resource/same-value.ts'
import { driftOf, targetOf, withReviewKey } from './webhook-drift.ts'

export interface WebhookManagerOptions {
  readonly api: KubernetesApi
  readonly type: ResourceType
  /** The name of the configuration. */
  readonly name: string
  /** The configuration, of that kind and name. */
  readonly make: (caBundle: string, reviewKey?: string) => ValueMap
  /** PEM; undefined: not known yet. */
  readonly caBundle: () => string | undefined
  /** Part of the path; undefined: there is none (yet). */
  readonly reviewKey?: () => string | undefined
  /** How often the configuration is read, and how often at most it is taken back from another operator; 1 minute. */
  readonly checkMs?: number
  readonly clock: Clock
  readonly log: Log
}

const FIELD_MANAGER = 'svc-operator'
const CHECK_MS = 60_000

/** The hash of what it was made from: changes by people stay until that hash is another. */
export const MADE_FROM = `${GROUP}/made-from`

/** Between two attempts to create the first one. */
const INTRODUCTION_MS = 1_000

export class WebhookManager {
  readonly #options: WebhookManagerOptions
  #failure: string | undefined
  #drift: string | undefined
  /** The one that this process applied last. */
  #applied: { readonly fingerprint: string; readonly atMs: number } | undefined
  readonly #loop: TaskLoop
  #isIntroduced = false
  #cancelIntroduction = (): void => undefined

  constructor(options: WebhookManagerOptions) {
    this.#options = options
    this.#loop = new TaskLoop(options.clock, () => this.#round())
  }

  /** What is wrong and what to do. */
  get failure(): string | undefined {
    return this.#failure
  }

  /** What was changed in it by others, and what to do if that was a mistake. */
  get drift(): string | undefined {
    return this.#drift
  }

  /** Whether it existed once, or may not be created: before that, the API server sends nothing to a new operator. */
  get isIntroduced(): boolean {
    return this.#isIntroduced
  }

  /**
   * Creates the configuration once if it does not exist, leading or not: after a rollout that turns the webhook or sidecars
   * on, both must work when the rollout is over, while the older operator may still lead.
   */
  introduce(): void {
    void this.#loop.exclusively(() => this.#introduce())
  }

  lead(): void {
    this.#loop.lead()
  }

  follow(): void {
    this.#loop.follow()
    // It is no error when another leader makes another one.
    this.#applied = undefined
    this.#drift = undefined
  }

  /** Checks now instead of at the next planned time, because the CAs have changed. */
  check(): void {
    this.#loop.trigger()
  }

  /** Resolves when nothing is under way. */
  async stop(): Promise<void> {
    this.#cancelIntroduction()
    await this.#loop.stop()
  }

  async #introduce(): Promise<void> {
    if (this.#isIntroduced) return
    const bundle = this.#options.caBundle()
    try {
      if (bundle !== undefined) {
        if ((await this.#read()) === undefined && !this.#loop.hasStopped())
          await this.#apply(bundle)
        this.#isIntroduced = true
      }
    } catch (error) {
      // The leader reports it.
      this.#isIntroduced = isApiError(error, 'forbidden')
    }
    if (this.#isIntroduced || this.#loop.hasStopped()) return
    this.#cancelIntroduction = this.#options.clock.after(INTRODUCTION_MS, () => {
      this.introduce()
    })
  }

  async #round(): Promise<number | 'failed' | undefined> {
    if (!this.#loop.mayAct()) return undefined
    const { checkMs = CHECK_MS } = this.#options
    const bundle = this.#options.caBundle()
    try {
      if (bundle !== undefined) await this.#bring(bundle)
    } catch (error) {
      this.#fail(error)
      return this.#loop.mayAct() ? 'failed' : undefined
    }
    this.#failure = undefined
    return this.#loop.mayAct() ? checkMs : undefined
  }

  async #bring(bundle: string): Promise<void> {
    const { api, type, name, log } = this.#options
    const object = await this.#read()
    if (!this.#loop.mayAct()) return
    this.#isIntroduced ||= object !== undefined
    const isOurs = object !== undefined && !this.#isOutdated(object)
    const isOvertaken = !isOurs && object !== undefined && this.#hasMade()
    this.#reportDrift(isOvertaken ? this.#overtakenWords(object) : this.#driftWords(object))
    if (isOvertaken && !this.#mayTakeBack()) return
    if (!isOurs) {
      await this.#apply(bundle)
      this.#isIntroduced = true
      // Two operators that take it from each other would log this for ever.
      if (!isOvertaken)
        log.info('the webhook was registered with the API server', {
          kind: type.kind,
          object: name,
        })
      return
    }
    const patch = trustPatch(object, this.#options.make(bundle, this.#reviewKey()), bundle)
    if (patch === undefined) return
    await api.patch(type, { namespace: '', name }, patch)
    log.info('the CA and the path of the webhook were updated in the API server', {
      kind: type.kind,
      object: name,
    })
  }

  async #apply(bundle: string): Promise<void> {
    const { api, type, name, clock } = this.#options
    // As an apply, so that the right to create can be limited to one name.
    await api.apply(type, { namespace: '', name }, this.#made(bundle), {
      fieldManager: FIELD_MANAGER,
    })
    this.#applied = { fingerprint: this.#fingerprint(), atMs: clock.now() }
  }

  #made(bundle: string): ValueMap {
    const made = this.#options.make(bundle, this.#reviewKey())
    const annotations = { [MADE_FROM]: this.#fingerprint() }
    return { ...made, metadata: { ...mapAt(made, 'metadata'), annotations } }
  }

  /** In a configuration without the annotation, which others have made, only the CAs are ours. */
  #isOutdated(object: ValueMap): boolean {
    const madeFrom = this.#madeFrom(object)
    return madeFrom !== undefined && madeFrom !== this.#fingerprint()
  }

  #madeFrom(object: ValueMap): Value | undefined {
    return memberAt(mapAt(mapAt(object, 'metadata'), 'annotations'), MADE_FROM)
  }

  #fingerprint(): string {
    const text = JSON.stringify(this.#options.make(''))
    return createHash('sha256').update(text).digest('hex').slice(0, 16)
  }

  #reviewKey(): string | undefined {
    return this.#options.reviewKey?.()
  }

  /** Whether this process has applied the current configuration: then any difference is a change by others. */
  #hasMade(): boolean {
    return this.#applied?.fingerprint === this.#fingerprint()
  }

  #mayTakeBack(): boolean {
    const { clock, checkMs = CHECK_MS } = this.#options
    return clock.now() - (this.#applied?.atMs ?? -Infinity) >= checkMs
  }

  #overtakenWords(object: ValueMap): string {
    const { type, name } = this.#options
    return (
      `${type.kind} ${name} is also managed by another operator, which points it to ${targetOf(object)}. ` +
      'Only one operator of a cluster may run the webhook: start the other with --webhook off'
    )
  }

  /** A configuration without the annotation belongs to others. */
  #driftWords(object: ValueMap | undefined): string | undefined {
    const { type, name, make } = this.#options
    if (object === undefined || this.#madeFrom(object) !== this.#fingerprint()) return undefined
    const words = driftOf(object, make(''))
    return words === undefined
      ? undefined
      : `${type.kind} ${name} was changed by somebody: ${words}. It is left like that; delete it to have it recreated`
  }

  #reportDrift(drift: string | undefined): void {
    const isNew = drift !== undefined && drift !== this.#drift
    this.#drift = drift
    if (isNew) this.#options.log.warn('somebody else has changed the webhook', { drift })
  }

  async #read(): Promise<ValueMap | undefined> {
    const { api, type, name } = this.#options
    try {
      return await api.get(type, { namespace: '', name })
    } catch (error) {
      if (isApiError(error, 'not_found')) return undefined
      throw error
    }
  }

  #fail(error: unknown): void {
    const { type, name, log } = this.#options
    const words = messageOf(error)
    const isForbidden = isApiError(error, 'forbidden')
    const before = this.#failure
    this.#failure = isForbidden
      ? `the operator may not get, patch or (where it is missing) create ${type.kind} ${name}`
      : words
    if (before === this.#failure) return
    log.warn('the webhook could not be registered with the API server', {
      kind: type.kind,
      object: name,
      error,
    })
  }
}

/** Names the version, as a merge patch replaces whole lists; undefined: CAs and review keys are up to date. */
const trustPatch = (object: ValueMap, made: ValueMap, bundle: string): ValueMap | undefined => {
  const webhooks = memberAt(object, 'webhooks')
  if (!isList(webhooks)) return undefined
  const caBundle = encodeBundle(bundle)
  const wanted = webhooks.map((webhook): Value => {
    if (!isMap(webhook)) return webhook
    const keyed = withReviewKey(webhook, made)
    return { ...keyed, clientConfig: { ...mapAt(keyed, 'clientConfig'), caBundle } }
  })
  if (webhooks.every((webhook, i) => isSameValue(webhook, wanted[i]))) return undefined
  const resourceVersion = memberAt(mapAt(object, 'metadata'), 'resourceVersion') ?? null
  return { metadata: { resourceVersion }, webhooks: wanted }
}
