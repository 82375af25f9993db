// Provides the client of a realm for one exchange: the realm's own or, if the request is traced, one that traces too.

import type { Exchange } from '../performer.ts'
import { type CallingClient, traceClient } from './traced-client.ts'
import type { WampEnvironment } from './environment.ts'
import type { CheckedOptions } from './options.ts'

type ClientFor = (
  exchange: Exchange,
  options: Pick<CheckedOptions, 'forwardsTrace'>,
) => () => CallingClient

/** Without traces it returns `client` of the environment itself, for every exchange. */
export const prepareClient = ({
  client,
  realmUri,
  spanOf,
}: Pick<WampEnvironment, 'client' | 'realmUri' | 'spanOf'>): ClientFor => {
  if (spanOf === undefined) return () => client
  return ({ incoming }, { forwardsTrace }) => {
    const parent = spanOf(incoming)
    if (parent === undefined) return client
    const traced = traceClient({ client, parent, realmUri, isForwarded: forwardsTrace })
    return () => traced
  }
}
