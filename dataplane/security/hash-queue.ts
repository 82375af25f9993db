// Hashes of passwords one after the other: at most two at once, a bounded number waiting. They share libuv's few
// threads with name resolution: eight at once make a lookup wait for 0.7 s.

export interface HashQueue {
  /**
   * undefined: too many are waiting already.
   * @param from whoever asks: nobody takes more than half of the queue
   * @param isPatient after all others
   */
  run(task: () => Promise<boolean>, from: string, isPatient: boolean): Promise<boolean> | undefined
}

const MAX_AT_ONCE = 2
/** About 1.6 s of work. */
const MAX_WAITING = 64
const MAX_FROM_ONE = MAX_WAITING / 2

interface Waiting {
  readonly start: () => void
}

export const createHashQueue = (): HashQueue => {
  const hurried: Waiting[] = []
  const patient: Waiting[] = []
  const held = new Map<string, number>()
  let running = 0

  const next = (): void => {
    if (running >= MAX_AT_ONCE) return
    const waiting = hurried.shift() ?? patient.shift()
    if (waiting === undefined) return
    running++
    waiting.start()
  }

  const release = (from: string): void => {
    running--
    const left = (held.get(from) ?? 1) - 1
    if (left === 0) held.delete(from)
    else held.set(from, left)
    next()
  }

  return {
    run(task, from, isPatient) {
      const own = held.get(from) ?? 0
      const line = isPatient ? patient : hurried
      if (line.length >= MAX_WAITING || own >= MAX_FROM_ONE) return undefined
      held.set(from, own + 1)
      const result = new Promise<boolean>((resolve, reject) => {
        line.push({
          start: () => {
            task()
              .finally(() => {
                release(from)
              })
              .then(resolve, reject)
          },
        })
      })
      next()
      return result
    },
  }
}
