// Measures the bytes of heap and buffers that this process uses once garbage is collected; for programs that are run with
// `--expose-gc`.

import { memoryUsage } from 'node:process'
import { settled } from '../../support/settled.ts'

/** References that were just looked at live to the end of their turn. */
export const bytesInUse = async (): Promise<number> => {
  await settled()
  // What finalizers let go of is garbage for the next one.
  for (let pass = 0; pass < 3; pass++) {
    globalThis.gc?.()
    await settled()
  }
  const { heapUsed, arrayBuffers } = memoryUsage()
  return heapUsed + arrayBuffers
}
