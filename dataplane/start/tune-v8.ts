// Habits of V8 that cost a server what it does not have to pay: turned off once, where a process begins to serve.

import { executionAsyncResource } from 'node:async_hooks'
import { setFlagsFromString } from 'node:v8'

/** To be called before anything else: what it prevents can not be mended later. */
export const breakHabitsOfV8 = (): void => {
  countBodiesInHeapLimit()
  keepShapeOfTicks()
}

/**
 * V8 sets aside a small limit of its own for memory outside its heap, and collects the whole heap each time that bodies
 * on their way have filled it: a quarter of the CPU time of a forwarded MiB. So they count to the one limit of all.
 */
const countBodiesInHeapLimit = (): void => {
  setFlagsFromString('--external-memory-accounted-in-global-limit')
}

/**
 * A collection that finds none of the objects that `process.nextTick` makes, as one of an idle moment, forgets their
 * shape; for ever after V8 makes each of them property by property, in 0.9 µs instead of 0.13, and a request takes two
 * or three. So one of them is kept, by a listener that has nothing to do.
 */
const keepShapeOfTicks = (): void => {
  process.nextTick(() => {
    const tick = executionAsyncResource()
    process.once('exit', () => tick)
  })
}
