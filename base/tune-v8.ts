// Turns off habits of V8 that cost a server performance, once when a process begins to serve.

import { executionAsyncResource } from 'node:async_hooks'
import { setFlagsFromString } from 'node:v8'

/** Call it before anything else: what it prevents cannot be undone later. */
export const breakHabitsOfV8 = (): void => {
  countBodiesInHeapLimit()
  createAllObjectsYoung()
  keepShapeOfTicks()
}

/**
 * V8 has a small separate limit for memory outside its heap, and collects the whole heap each time that bodies in
 * transit have filled it: a quarter of the CPU time of a forwarded MiB. With this flag they count towards the limit
 * of the heap.
 */
const countBodiesInHeapLimit = (): void => {
  setFlagsFromString('--external-memory-accounted-in-global-limit')
}

/**
 * V8 remembers which lines create objects that live long, as all do while documents are loaded. From then on it creates
 * the objects of requests in the old generation too where the same lines create them, although they are garbage at once:
 * with 10,000 documents the whole heap was marked every seven seconds, for 0.4 s.
 */
const createAllObjectsYoung = (): void => {
  setFlagsFromString('--no-allocation-site-pretenuring')
}

/**
 * A collection that finds none of the objects that `process.nextTick` creates, such as one in an idle moment, drops
 * their shape; from then on V8 creates each of them property by property, in 0.9 µs instead of 0.13, and a request
 * needs two or three. So a listener that does nothing keeps one of them.
 */
const keepShapeOfTicks = (): void => {
  process.nextTick(() => {
    const tick = executionAsyncResource()
    process.once('exit', () => tick)
  })
}
