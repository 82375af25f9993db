// Implements the three things that a reflector does with the API, one at a time: list all, check that a version is
// still valid, watch from there. Each throws what the API throws, or the reason of its signal.

import type { Clock } from '../../../base/clock.ts'
import {
  ApiError,
  type KubernetesApi,
  type ListOptions,
  type ResourceType,
  type Scope,
} from '../client/api.ts'
import { versionOf, type Items } from './object-cache.ts'

export interface StepOptions extends Scope {
  readonly api: KubernetesApi
  readonly type: ResourceType
  readonly pageSize: number
  readonly clock: Clock
  readonly items: Pick<Items<unknown>, 'put' | 'remove' | 'startList'>
}

/**
 * Lists live, by pages of one state, and applies the list when it is complete.
 * @returns the version to watch from
 */
export const listAll = async (
  options: StepOptions,
  isAnotherPast: boolean,
  signal: AbortSignal,
): Promise<string> => {
  const { api, type, pageSize, items } = options
  const intake = items.startList(isAnotherPast)
  const scope = scopeOf(options)
  // A page is released before the next one is requested.
  const takePage = async (next: Pick<ListOptions, 'continue'>): Promise<PageEnd> => {
    const page = await api.list(type, { ...scope, limit: pageSize, ...next }, signal)
    intake.take(page.items)
    return { resourceVersion: page.resourceVersion, next: page.continue }
  }
  const first = await takePage({})
  let { next } = first
  while (next !== undefined) ({ next } = await takePage({ continue: next }))
  intake.finish()
  return first.resourceVersion
}

interface PageEnd {
  readonly resourceVersion: string
  readonly next: string | undefined
}

/**
 * A watch from a version that the API server has not reached yet (its storage was restored) is silent and looks
 * healthy; a list that must not be older than it fails.
 * @throws ApiError 410, or 504 ResourceVersionTooLarge, where the version means nothing any more
 */
export const checkVersion = async (
  options: StepOptions,
  resourceVersion: string,
  signal: AbortSignal,
): Promise<void> => {
  const { api, type } = options
  const check = { ...scopeOf(options), limit: 1, resourceVersion }
  await api.list(type, { ...check, resourceVersionMatch: 'NotOlderThan' }, signal)
}

export interface WatchStep {
  readonly resourceVersion: string
  readonly timeoutSeconds: number
  readonly onOpen: () => void
  /** An event was processed; to go on after it, watch from `version`. */
  readonly onEvent: (version: string, isChange: boolean) => void
}

/** A watch that ends sooner, and without an event, counts as rejected. */
const SHORTEST_WATCH_MS = 1000

export const watchOnce = async (
  options: StepOptions,
  { onEvent, ...watch }: WatchStep,
  signal: AbortSignal,
): Promise<void> => {
  const { api, type, clock, items } = options
  const startedAtMs = clock.now()
  let hasHeard = false
  for await (const event of api.watch(type, { ...scopeOf(options), ...watch }, signal)) {
    hasHeard = true
    if (event.type === 'BOOKMARK') {
      onEvent(event.resourceVersion, false)
      continue
    }
    if (event.type === 'DELETED') items.remove(event.object)
    else items.put(event.object)
    onEvent(versionOf(event.object), true)
  }
  signal.throwIfAborted()
  if (hasHeard || clock.now() - startedAtMs >= SHORTEST_WATCH_MS) return
  throw new ApiError(`${type.plural}: the API server closes every watch immediately`, { status: 0 })
}

const scopeOf = ({ namespace, labelSelector, fieldSelector }: Scope): Scope => ({
  ...(namespace !== undefined && { namespace }),
  ...(labelSelector !== undefined && { labelSelector }),
  ...(fieldSelector !== undefined && { fieldSelector }),
})
