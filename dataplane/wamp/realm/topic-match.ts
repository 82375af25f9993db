// Options of a subscription or registration in, how its URI is matched out.

import type { ValueMap } from '../../../language/expression/value.ts'

/** `exact` when the options do not say, as the WAMP protocol has it (*Pattern-based Subscriptions*). */
export const matchOf = (options: ValueMap): string => {
  const match = Object.hasOwn(options, 'match') ? options['match'] : undefined
  return typeof match === 'string' ? match : 'exact'
}
