// Reads the roles and features that a client announces in HELLO, and makes the WELCOME with exactly those that this
// router has.

import { MESSAGE, type WampMessage } from '../../dataplane/wamp/protocol/messages.ts'
import { ownValue } from '../../language/expression/lookup.ts'
import { isMap, type ValueMap } from '../../language/expression/value.ts'
import { BROKER_FEATURES } from './broker.ts'
import { DEALER_FEATURES } from './dealer.ts'
import type { Session } from './session.ts'

export interface Announced {
  readonly roles: ReadonlySet<string>
  /** As `callee.call_canceling`. */
  readonly features: ReadonlySet<string>
}

const CLIENT_ROLES = ['publisher', 'subscriber', 'caller', 'callee'] as const

export const announcedFeatures = (helloDetails: ValueMap): Announced => {
  const announced = ownValue(helloDetails, 'roles')
  const roles = new Set<string>()
  const features = new Set<string>()
  for (const role of CLIENT_ROLES) {
    const about = isMap(announced) ? ownValue(announced, role) : undefined
    if (!isMap(about)) continue
    roles.add(role)
    const names = ownValue(about, 'features')
    for (const [name, isThere] of Object.entries(isMap(names) ? names : {})) {
      if (isThere === true) features.add(`${role}.${name}`)
    }
  }
  return { roles, features }
}

export const welcomeMessage = ({ id, identity }: Session): WampMessage => [
  MESSAGE.welcome,
  id,
  {
    ...identity,
    roles: { broker: { features: BROKER_FEATURES }, dealer: { features: DEALER_FEATURES } },
  },
]
