// Reads from the options of a subscription or registration how its URI is matched.

import { memberAt } from '../../../language/expression/members.ts'
import type { ValueMap } from '../../../language/expression/value.ts'

/** `exact` when the options do not say, as the WAMP protocol has it (*Pattern-based Subscriptions*). */
export const matchOf = (options: ValueMap): string => {
  const match = memberAt(options, 'match')
  return typeof match === 'string' ? match : 'exact'
}
