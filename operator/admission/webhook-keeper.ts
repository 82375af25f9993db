// A Kubernetes API and the CAs of our certificates in; a webhook configuration that trusts just these out. Makes
// it where it is missing; of one that is there it changes the CAs alone. Only while this operator leads.

import { isList, isMap, type Value, type ValueMap } from '../../spec/expression/value.ts'
import type { Log } from '../../telemetry/log.ts'
import { backOffMs, type Clock } from '../clock.ts'
import { ApiError, type KubernetesApi, TYPES } from '../kubernetes/api.ts'
import { map, own } from './review.ts'
import {
  encodeBundle,
  webhookConfiguration,
  type WebhookConfigurationOptions,
} from './webhook-configuration.ts'

export interface WebhookKeeperOptions extends Omit<WebhookConfigurationOptions, 'caBundle'> {
  readonly api: KubernetesApi
  /** PEM; undefined: not known yet. */
  readonly caBundle: () => string | undefined
  /** How often the configuration is looked at; 1 minute. */
  readonly checkMs?: number
  readonly clock: Clock
  readonly log: Log
}

const FIELD_MANAGER = 'svc-operator'
const TYPE = TYPES.validatingWebhookConfigurations

export class WebhookKeeper {
  readonly #options: WebhookKeeperOptions
  #isLeading = false
  #isStopped = false
  #failures = 0
  #trouble: string | undefined
  #queue: Promise<void> = Promise.resolve()
  #cancelTimer = (): void => undefined

  constructor(options: WebhookKeeperOptions) {
    this.#options = options
  }

  /** What is wrong and what to do. */
  get trouble(): string | undefined {
    return this.#trouble
  }

  lead(): void {
    this.#isLeading = true
    this.check()
  }

  follow(): void {
    this.#isLeading = false
    this.#cancelTimer()
  }

  /** Looks now instead of at the next turn: the CAs are others. */
  check(): void {
    this.#cancelTimer()
    this.#queue = this.#queue.then(() => this.#round())
  }

  /** Resolves when nothing is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancelTimer()
    await this.#queue
  }

  async #round(): Promise<void> {
    if (!this.#mayWrite()) return
    const bundle = this.#options.caBundle()
    try {
      if (bundle !== undefined) await this.#bring(bundle)
      this.#failures = 0
      this.#trouble = undefined
    } catch (error) {
      this.#fail(error)
    }
    this.#schedule()
  }

  async #bring(bundle: string): Promise<void> {
    const { api, name, log } = this.#options
    const object = await this.#read()
    if (!this.#mayWrite()) return
    if (object === undefined) {
      const made = webhookConfiguration({ ...this.#options, caBundle: bundle })
      // As an apply: who may create may so be held to one name.
      await api.apply(TYPE, { namespace: '', name }, made, { fieldManager: FIELD_MANAGER })
      log.info('the webhook was made known to the API server', { configuration: name })
      return
    }
    const patch = bundlePatch(object, encodeBundle(bundle))
    if (patch === undefined) return
    await api.patch(TYPE, { namespace: '', name }, patch)
    log.info('the API server was told the CA of the webhook', { configuration: name })
  }

  async #read(): Promise<ValueMap | undefined> {
    const { api, name } = this.#options
    try {
      return await api.get(TYPE, { namespace: '', name })
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined
      throw error
    }
  }

  #mayWrite(): boolean {
    return this.#isLeading && !this.#isStopped
  }

  #fail(error: unknown): void {
    const { name, log } = this.#options
    const words = error instanceof Error ? error.message : String(error)
    const isForbidden = error instanceof ApiError && error.status === 403
    const before = this.#trouble
    this.#trouble = isForbidden
      ? `the operator may not get, patch or (where it is missing) create ValidatingWebhookConfiguration ${name}`
      : words
    this.#failures += 1
    if (before === this.#trouble) return
    log.warn('the API server could not be told of the webhook', { configuration: name, error })
  }

  #schedule(): void {
    const { clock, checkMs = 60_000 } = this.#options
    this.#cancelTimer()
    if (!this.#mayWrite()) return
    const waitMs = this.#failures > 0 ? backOffMs(this.#failures, () => clock.random()) : checkMs
    this.#cancelTimer = clock.after(waitMs, () => {
      this.check()
    })
  }
}

/** With its version, as a merge patch writes a list whole; undefined: every CA stands there already. */
const bundlePatch = (object: ValueMap, caBundle: string): ValueMap | undefined => {
  const webhooks = own(object, 'webhooks')
  if (!isList(webhooks)) return undefined
  const wanted = webhooks.map((webhook): Value => {
    if (!isMap(webhook)) return webhook
    return { ...webhook, clientConfig: { ...map(webhook, 'clientConfig'), caBundle } }
  })
  const isAsWanted = webhooks.every(
    (webhook) => isMap(webhook) && own(map(webhook, 'clientConfig') ?? {}, 'caBundle') === caBundle,
  )
  if (isAsWanted) return undefined
  const resourceVersion = own(map(object, 'metadata') ?? {}, 'resourceVersion') ?? null
  return { metadata: { resourceVersion }, webhooks: wanted }
}
