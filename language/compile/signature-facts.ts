// Says what the realm knows of the signature that a document names: whether there is one, and whether a delivery can be
// told from one that came before (behaviour §6, *Signed requests*).

import { didYouMean } from '../../base/nearest-name.ts'
import type { RealmFacts } from '../realm/environment.ts'
import type { Diagnostics } from './diagnostics.ts'

interface SignatureDeps {
  readonly realm: RealmFacts | undefined
  readonly diagnostics: Diagnostics
}

/** @returns what stands in the compiled form: nothing unless it is known that replays pass */
export const readSignatureFacts = (
  name: string,
  pointer: string,
  { realm, diagnostics }: SignatureDeps,
): { readonly replays?: 'pass' } => {
  const { signatures, countsAlone } = realm ?? {}
  if (signatures === undefined) return {}
  const facts = Object.hasOwn(signatures, name) ? signatures[name] : undefined
  if (facts === undefined)
    diagnostics.warning(
      'UnsatisfiedSecurity',
      pointer,
      `the realm has no signature named '${name}'${didYouMean(name, Object.keys(signatures)) || '.'} Every request is rejected (401) until it has one`,
    )
  else if (facts.hasTimestamp && countsAlone === true)
    diagnostics.warning('RememberedPerGateway', pointer, REMEMBERED_PER_GATEWAY)
  return facts?.hasTimestamp === false ? { replays: 'pass' } : {}
}

/** What every gateway says that does not share with others which deliveries it has taken. */
export const REMEMBERED_PER_GATEWAY =
  'each gateway remembers for itself which deliveries it has taken, so that N gateways may take one N times: give them a --redis'
