// Creates what a serving process or a cluster of them is given: keys, a shared state in memory, no peers.

import { randomBytes } from 'node:crypto'
import { ProcessStatusRegistry, peersOfOne } from '../../dataplane/start/cluster/process-status.ts'
import { createKeyRing } from '../../language/realm/key-ring.ts'
import type { SecurityState } from '../../dataplane/start/security-state.ts'
import type { ServingHome } from '../../dataplane/start/serving-parts.ts'
import { MemoryState } from '../../dataplane/shared/memory-state.ts'
import { RateBuckets } from '../../dataplane/shared/rate-buckets.ts'
import { ServiceDirectory } from '../../dataplane/upstream/endpoints/service-directory.ts'

export const securityState = (): SecurityState => {
  const shared = new MemoryState({ now: Date.now })
  const rings = { signing: createKeyRing(randomBytes), oidcState: createKeyRing(randomBytes) }
  const limiter = new RateBuckets(() => performance.now())
  return { rings, shared, limiter, revoked: () => shared.revoked() }
}

export const servingHome = (board = new ProcessStatusRegistry()): ServingHome => ({
  ...securityState(),
  peers: peersOfOne(board),
  services: new ServiceDirectory(),
})
