// Adds the authenticated caller to the arguments of a call (`options.forward_identity`, behaviour §4), as the callee
// otherwise sees only the gateway's session. A value that a client sends there is replaced.

import { ownValue } from '../../../language/expression/lookup.ts'
import { isList, type Value, type ValueMap } from '../../../language/expression/value.ts'
import { CALLER_KEY } from './validate.ts'

/**
 * Returns `kwargs` with `_caller: {authid, authrole, authmethod, realm}`, which replaces any value there. Of several
 * roles it has the first: joined ones could be taken for a role of that name.
 *
 * @param security of the context: empty for anonymous requests
 */
export const withCaller = (kwargs: ValueMap, security: ValueMap, realmUri: string): ValueMap => ({
  ...kwargs,
  [CALLER_KEY]: callerOf(security, realmUri),
})

const callerOf = (security: ValueMap, realm: string): ValueMap => {
  if (Object.keys(security).length === 0) {
    return { authid: null, authrole: 'anonymous', authmethod: 'anonymous', realm }
  }
  const roles = ownValue(security, 'authroles')
  return {
    authid: textOf(ownValue(security, 'authid')),
    authrole: isList(roles) ? textOf(roles[0]) : null,
    authmethod: textOf(ownValue(security, 'authmethod')),
    realm,
  }
}

const textOf = (value: Value | undefined): Value => (typeof value === 'string' ? value : null)
