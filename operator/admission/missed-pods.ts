// Counts and names the Pods that ask for a gateway and have none, because they were created before the webhook, or
// while it did not respond. Checks now and then, only while this operator leads, with a bounded number of reads;
// changes nothing.

import { TaskLoop } from '../../base/task-loop.ts'
import { messageOf } from '../../base/thrown.ts'
import { mapAt, memberAt, textAt } from '../../language/expression/members.ts'
import type { Pod } from '../kubernetes/objects.ts'
import type { Log } from '../../telemetry/log.ts'
import type { Clock } from '../../base/clock.ts'
import { type KubernetesApi, type ListOptions, TYPES } from '../kubernetes/client/api.ts'
import { DATA_PLANE_LABEL } from '../source/read-pod.ts'
import { annotationOf } from './inject-pod.ts'
import { INJECT_LABEL, MIRROR_ANNOTATION } from './inject.ts'

export interface MissedPodsOptions {
  readonly api: Pick<KubernetesApi, 'list'>
  /** The operator's own namespace, whose pods are not counted. */
  readonly operatorNamespace: string
  /** Where sidecars may be. */
  readonly namespaces: readonly string[] | 'all'
  /** How often; 5 minutes. */
  readonly checkMs?: number
  readonly clock: Clock
  readonly log: Log
}

/** Reads from the cache of the API server, which ignores the limit then. */
const CHEAP = { onlyMetadata: true, resourceVersion: '0', limit: 500 } as const
const ENOUGH = 1000
const MAX_NAMESPACES = 500
const MAX_NAMED = 5

export class MissedPods {
  readonly #options: MissedPodsOptions
  readonly #loop: TaskLoop
  #missed: readonly string[] | undefined
  #note: string | undefined
  #failure: string | undefined

  constructor(options: MissedPodsOptions) {
    this.#options = options
    this.#loop = new TaskLoop(options.clock, () => this.#round())
  }

  /** Undefined: not known, or this operator does not lead. */
  get count(): number | undefined {
    return this.#missed?.length
  }

  /** What to do about them; undefined: nothing. */
  get note(): string | undefined {
    return this.#note
  }

  lead(): void {
    this.#loop.lead()
  }

  follow(): void {
    this.#loop.follow()
    this.#missed = undefined
    this.#note = undefined
  }

  /** Resolves when nothing is under way. */
  stop(): Promise<void> {
    this.follow()
    return this.#loop.stop()
  }

  async #round(): Promise<number | 'failed' | undefined> {
    const { checkMs = 300_000, log } = this.#options
    try {
      if (this.#loop.mayAct()) this.#report(await this.#look())
      this.#failure = undefined
    } catch (error) {
      if (!this.#loop.mayAct()) return undefined
      const failure = messageOf(error)
      if (failure !== this.#failure)
        log.warn('could not check for pods without a gateway', { error })
      this.#failure = failure
      return 'failed'
    }
    return this.#loop.mayAct() ? checkMs : undefined
  }

  async #look(): Promise<readonly string[]> {
    const { namespaces } = this.#options
    const labelled = await this.#labelledNamespaces()
    const scopes = namespaces === 'all' ? [{}] : namespaces.map((namespace) => ({ namespace }))
    const lists: readonly ListOptions[] = [
      ...scopes.map((scope) => ({ ...scope, labelSelector: BY_POD })),
      ...labelled.map((namespace) => ({ namespace, labelSelector: BY_NAMESPACE })),
    ]
    const missed: string[] = []
    for (const list of lists) {
      if (!this.#loop.mayAct()) break
      const { items } = await this.#options.api.list(TYPES.pods, {
        ...list,
        fieldSelector: RUNNING,
        ...CHEAP,
      })
      missed.push(...items.filter((pod) => this.#isMissed(pod)).map(nameOf))
      if (missed.length >= ENOUGH) return missed.slice(0, ENOUGH)
    }
    return missed
  }

  async #labelledNamespaces(): Promise<readonly string[]> {
    const { items } = await this.#options.api.list(TYPES.namespaces, {
      labelSelector: `${INJECT_LABEL}=true`,
      ...CHEAP,
    })
    const names = items.map((item) => textAt(mapAt(item, 'metadata'), 'name'))
    return names.filter((name) => this.#isPlace(name)).slice(0, MAX_NAMESPACES)
  }

  /** Whether the webhook's configuration includes the namespace. */
  #isPlace(namespace: string): boolean {
    const { namespaces, operatorNamespace } = this.#options
    if (namespace === 'kube-system' || namespace === operatorNamespace) return false
    return namespaces === 'all' || namespaces.includes(namespace)
  }

  #isMissed(pod: Pod): boolean {
    const metadata = mapAt(pod, 'metadata')
    return (
      this.#isPlace(textAt(metadata, 'namespace')) &&
      memberAt(metadata, 'deletionTimestamp') === undefined &&
      annotationOf(pod, MIRROR_ANNOTATION) === undefined
    )
  }

  #report(missed: readonly string[]): void {
    if (!this.#loop.mayAct()) return
    const { log } = this.#options
    const before = this.#missed?.length ?? 0
    this.#missed = missed
    this.#note = noteOf(missed)
    if (missed.length === before) return
    if (this.#note === undefined) log.info('all pods that ask for a gateway have one')
    else
      log.warn('pods that ask for a gateway have none', { count: missed.length, what: this.#note })
  }
}

const BY_POD = `${INJECT_LABEL}=true,!${DATA_PLANE_LABEL}`
const BY_NAMESPACE = `${INJECT_LABEL} notin (true,false),!${DATA_PLANE_LABEL}`
const RUNNING = 'status.phase!=Succeeded,status.phase!=Failed'

const nameOf = (pod: Pod): string => {
  const metadata = mapAt(pod, 'metadata')
  return `${textAt(metadata, 'namespace')}/${textAt(metadata, 'name')}`
}

const noteOf = (missed: readonly string[]): string | undefined => {
  if (missed.length === 0) return undefined
  const named = missed.slice(0, MAX_NAMED).join(', ')
  const more = missed.length > MAX_NAMED ? ' and others' : ''
  return (
    `pods that ask for a gateway have none: ${named}${more}. They were created while no operator responded, or can't ` +
    `have one: replace them, for example by kubectl rollout restart, or label them ${INJECT_LABEL}=false`
  )
}
