// Removes a webhook configuration that an earlier version of this operator has made, and that no process serves any
// more. Checks once in each leader term, and touches nothing that belongs to others.

import { TaskLoop } from '../../base/task-loop.ts'
import { messageOf } from '../../base/thrown.ts'
import { mapAt, memberAt } from '../../language/expression/members.ts'
import type { ValueMap } from '../../language/expression/value.ts'
import type { Log } from '../../telemetry/log.ts'
import type { Clock } from '../../base/clock.ts'
import { isApiError, type KubernetesApi, type ResourceType } from '../kubernetes/client/api.ts'
import { MADE_FROM } from './webhook-manager.ts'
import { targetOf } from './webhook-drift.ts'

export interface WebhookRemoverOptions {
  readonly api: Pick<KubernetesApi, 'get' | 'delete'>
  readonly type: ResourceType
  /** The name of the configuration. */
  readonly name: string
  /** As this operator would have made it. */
  readonly made: ValueMap
  readonly clock: Clock
  readonly log: Log
}

export class WebhookRemover {
  readonly #options: WebhookRemoverOptions
  readonly #loop: TaskLoop
  readonly #startedMs: number
  #failure: string | undefined

  constructor(options: WebhookRemoverOptions) {
    this.#options = options
    this.#startedMs = options.clock.now()
    this.#loop = new TaskLoop(options.clock, () => this.#round())
  }

  lead(): void {
    this.#loop.lead()
  }

  follow(): void {
    this.#loop.follow()
  }

  /** Resolves when nothing is under way. */
  stop(): Promise<void> {
    this.follow()
    return this.#loop.stop()
  }

  async #round(): Promise<'failed' | undefined> {
    try {
      if (this.#loop.mayAct()) await this.#remove()
    } catch (error) {
      if (this.#loop.mayAct()) return this.#fail(error)
    }
    return undefined
  }

  async #remove(): Promise<void> {
    const { api, type, name, log } = this.#options
    const object = await api.get(type, { namespace: '', name })
    const uid = memberAt(mapAt(object, 'metadata'), 'uid')
    if (!this.#loop.mayAct() || !this.#isLeft(object) || typeof uid !== 'string') return
    await api.delete(type, { namespace: '', name }, uid)
    log.info('a webhook configuration that is no longer served was removed', {
      kind: type.kind,
      object: name,
    })
  }

  /**
   * Whether it was made by an operator, not by hand; for our target; and before this program started: a younger one is
   * of a version with sidecars that is being rolled out.
   */
  #isLeft(object: ValueMap): boolean {
    const metadata = mapAt(object, 'metadata')
    const created = memberAt(metadata, 'creationTimestamp')
    return (
      memberAt(mapAt(metadata, 'annotations'), MADE_FROM) !== undefined &&
      targetOf(object) === targetOf(this.#options.made) &&
      typeof created === 'string' &&
      Date.parse(created) < this.#startedMs
    )
  }

  /** A configuration that does not exist, or that we may not read, is as it should be. */
  #fail(error: unknown): 'failed' | undefined {
    if (isApiError(error, 'forbidden', 'not_found', 'conflict')) return undefined
    const { log, type, name } = this.#options
    const failure = messageOf(error)
    if (failure !== this.#failure) {
      log.warn('could not check for a webhook configuration that is no longer served', {
        kind: type.kind,
        object: name,
        error,
      })
    }
    this.#failure = failure
    return 'failed'
  }
}
