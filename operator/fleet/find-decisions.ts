// Asks gateways how the requests with one id were decided (`GET /why/ID`), and collects their responses. What a gateway
// says stays under its name, as a sidecar may claim anything.

import { inParallel } from '../../base/in-parallel.ts'
import type { ValueMap } from '../../language/expression/value.ts'
import type { ManagementClient } from './management-client.ts'
import { type Ordered, sharedFirst } from './shared-first.ts'

export interface FleetDecisions {
  /** Those that keep some: the shared pool, then sidecars, by name. */
  readonly gateways: readonly {
    readonly name: string
    readonly decisions: readonly ValueMap[]
  }[]
  readonly asked: number
  readonly answered: number
  /** Names of gateways that have not answered, 100 at most: one that is older than this operator answers 404. */
  readonly silent: readonly string[]
}

export interface SearchedGateway extends Ordered {
  readonly client: Pick<ManagementClient, 'why'>
}

/** Calls at one time. */
const WIDTH = 32
const MOST_SILENT = 100
/** A proxy may send one id to all gateways: the others are as good. */
const MOST_GATEWAYS = 32

/** Asks all at once, or nearly so. Never rejects. */
export const findDecisions = async (
  gateways: readonly SearchedGateway[],
  id: string,
): Promise<FleetDecisions> => {
  let found: readonly Found[] = []
  const silent: string[] = []
  await inParallel(gateways, WIDTH, async ({ name, isShared, client }) => {
    const response = await client.why(id)
    if (response.result === 'ok') {
      // At once, so that no more are in memory, however many answer.
      if (response.value.length > 0)
        found = [...found, { name, isShared, decisions: response.value }]
          .sort(sharedFirst)
          .slice(0, MOST_GATEWAYS)
    } else if (response.result !== 'refused' || response.status !== 404) silent.push(name)
  })
  return {
    gateways: found.map(({ name, decisions }) => ({ name, decisions })),
    asked: gateways.length,
    answered: gateways.length - silent.length,
    silent: silent.sort().slice(0, MOST_SILENT),
  }
}

interface Found extends Ordered {
  readonly decisions: readonly ValueMap[]
}
