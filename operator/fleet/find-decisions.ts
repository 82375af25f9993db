// Asks gateways how the requests with one id were decided (`GET /why/ID`), and collects their answers. What a gateway
// says stays under its name, as a sidecar may claim anything.

import { inParallel } from '../../base/in-parallel.ts'
import type { ValueMap } from '../../language/expression/value.ts'
import type { ManagementClient } from './management-client.ts'

export interface FleetDecisions {
  /** Those that keep some, by name. */
  readonly gateways: readonly {
    readonly name: string
    readonly decisions: readonly ValueMap[]
  }[]
  readonly asked: number
  readonly answered: number
  /** Names of gateways that have not answered, 100 at most: one that is older than this operator answers 404. */
  readonly silent: readonly string[]
}

export interface AskedGateway {
  readonly name: string
  readonly client: Pick<ManagementClient, 'why'>
}

/** Calls at one time. */
const WIDTH = 32
const MOST_SILENT = 100
/** A proxy may send one id to all gateways: the others are as good. */
const MOST_GATEWAYS = 32

/** Asks all at once, or nearly so. Never rejects. */
export const findDecisions = async (
  asked: readonly AskedGateway[],
  id: string,
): Promise<FleetDecisions> => {
  const gateways: FleetDecisions['gateways'][number][] = []
  const silent: string[] = []
  await inParallel(asked, WIDTH, async ({ name, client }) => {
    const answer = await client.why(id)
    if (answer.result === 'ok') gateways.push({ name, decisions: answer.value })
    else if (answer.result !== 'refused' || answer.status !== 404) silent.push(name)
  })
  return {
    gateways: gateways.toSorted(byName).slice(0, MOST_GATEWAYS),
    asked: asked.length,
    answered: asked.length - silent.length,
    silent: silent.sort().slice(0, MOST_SILENT),
  }
}

const byName = (one: { readonly name: string }, other: { readonly name: string }): number =>
  one.name < other.name ? -1 : 1
