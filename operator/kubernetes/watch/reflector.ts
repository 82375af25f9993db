// Keeps the objects of a kind and scope as they are in the API: lists by pages, watches, lists again where it has to.
// It always goes on trying, says since when its data may be old, and never drops an object because a read failed.

import { guarded } from '../../../base/guarded.ts'
import { createChanges } from './changes.ts'
import { Items } from './object-cache.ts'
import { createLoop, type ReflectorTuning } from './loop.ts'
import { createFailureState } from './failure-state.ts'
import { WatchLog } from './watch-log.ts'
import type { Watched, WatchedOptions } from './watched.ts'

const TUNING: ReflectorTuning = {
  // As client-go's reflectors wait.
  backOff: { firstMs: 800, capMs: 30_000 },
  watchSeconds: { least: 300, most: 600 },
}

/**
 * The key of a cluster-scoped object is `/name`.
 * @example
 * const pods = createReflector({ api, type: TYPES.pods, labelSelector, pageSize: 500, read, onChange, clock, log })
 * pods.start()
 */
export const createReflector = <T>(
  options: WatchedOptions<T>,
  tuning: Partial<ReflectorTuning> = {},
): Watched<T> => {
  const { type, clock, namespace, hasChanged, watchLog = new WatchLog(options) } = options
  const { onRenewed, onDeleted } = options
  const of = { resource: type.plural, ...(namespace !== undefined && { namespace }) }
  const log = options.log.child(of)
  const onError = (error: unknown): void => {
    log.error('a listener failed', { error })
  }
  const items = new Items({
    read: options.read,
    onUnread: (object, error) => {
      log.error('an object could not be read and is left out', { object, error })
    },
    ...(hasChanged !== undefined && { hasChanged }),
    ...(onRenewed !== undefined && { onRenewed: guarded(onRenewed, onError) }),
    ...(onDeleted !== undefined && { onDeleted: guarded(onDeleted, onError) }),
  })
  const changes = createChanges({
    onChange: () => {
      options.onChange()
    },
    publish: () => items.publish(),
    log,
  })
  const failureState = createFailureState({
    clock,
    log,
    watchLog,
    of,
    notify: () => {
      changes.notify()
    },
  })
  const loop = createLoop({ ...options, items, changes, failureState, log, ...TUNING, ...tuning })
  return {
    start: loop.start,
    relist: loop.relist,
    stop: async () => {
      await loop.stop()
      failureState.stop()
    },
    get hasSynced() {
      return loop.hasSynced()
    },
    get items() {
      return items.current
    },
    get failure() {
      return failureState.current
    },
  }
}
