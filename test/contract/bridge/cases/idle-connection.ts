// Leaves a bridge idle, and counts what its followers received meanwhile and how often its router had to answer
// something. Time passes by hand: however slow a router is, it answers in time.

import { withSocket } from '../../../dataplane/wamp/client-socket.ts'
import { everyOf } from '../../../dataplane/wamp/every-of.ts'
import { eventually } from '../../../support/eventually.ts'
import { createManualClock } from '../../../support/manual-clock.ts'
import type { BridgeContext, BridgeWire } from '../bridge-case.ts'
import { follow } from '../bridge-rig.ts'

export const KEEPALIVE_MS = 2000
/** So finely the bridge measures silence. */
export const LOOK_MS = KEEPALIVE_MS / 16

/** For three times the keepalive. */
export const idleFor = async (
  { bridge, router, uri }: BridgeContext,
  transport: BridgeWire['transport'],
): Promise<{ readonly told: readonly string[]; readonly answered: number }> => {
  const clock = createManualClock()
  const options = { url: router[transport], keepalive: KEEPALIVE_MS, every: everyOf(clock) }
  const [rig, socket] = await withSocket(() => bridge(options))
  const { told } = await follow(rig.client, uri)
  let answered = 0
  for (let passedMs = 0; passedMs < 3 * KEEPALIVE_MS; passedMs += LOOK_MS) {
    const { bytesRead, bytesWritten } = socket
    await clock.run(LOOK_MS)
    if (socket.bytesWritten === bytesWritten) continue
    await eventually(() => {
      if (socket.bytesRead === bytesRead) throw new Error('the router does not answer')
    })
    answered += 1
  }
  return { told: [...told], answered }
}
