// Reads every document and realm that a gateway has loaded from its management API, and lists what could not be read.
// Changes nothing there.

import { isMap, type ValueMap } from '../../language/expression/value.ts'
import { measure } from '../../language/measure.ts'
import { describeResponse } from '../../operator/fleet/client/describe-response.ts'
import type { ManagementClient } from '../../operator/fleet/management-client.ts'
import type { RealmSource } from '../../operator/fleet/client/read-response.ts'

export interface GatewayContents {
  /** Documents in the order of ids. */
  readonly documents: readonly LoadedDocument[]
  /** Realms in the order of uris. */
  readonly realms: readonly RealmSource[]
  readonly errors: readonly string[]
}

export interface LoadedDocument {
  readonly id: string
  readonly document: ValueMap
  readonly digest: string
  /** null: loaded by hand. */
  readonly managedBy: string | null
}

export type GatewayReading = GatewayContents | { readonly error: string }

type Client = Pick<ManagementClient, 'state' | 'source' | 'realms'>

/** A person has chosen the gateway. */
const STATE_BOUND = { bytes: 64 * 1024 * 1024, values: 4_000_000 }

export const readGateway = async (client: Client): Promise<GatewayReading> => {
  const state = await client.state(undefined, STATE_BOUND)
  if (state.result !== 'ok') return { error: describeResponse(state) }
  const realms = await client.realms()
  if (realms.result !== 'ok') return { error: `its realms: ${describeResponse(realms)}` }
  const documents: LoadedDocument[] = []
  const errors: string[] = []
  const specs = Object.entries(state.value.specs).sort(([a], [b]) => (a < b ? -1 : 1))
  for (const [id, { digest, managedBy }] of specs) {
    const source = await client.source(id)
    const document = source.result === 'ok' ? source.value : undefined
    if (isMap(document) && measure(document).length === 0)
      documents.push({ id, document, digest, managedBy })
    else
      errors.push(
        `document '${id}': ${source.result === 'ok' ? 'what the gateway returned is not a document' : describeResponse(source)}`,
      )
  }
  const byUri = realms.value.toSorted((a, b) => (a.uri < b.uri ? -1 : 1))
  return { documents, realms: byUri, errors }
}
