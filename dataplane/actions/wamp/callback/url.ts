// Parses the URL of a callback (behaviour §4, `kwargs.callback`) and checks that the realm allows it. It opens
// nothing.

import { ownValue } from '../../../../language/expression/lookup.ts'
import type { ValueMap } from '../../../../language/expression/value.ts'
import type { RealmRecord } from '../../../../language/realm/record.ts'
import { invalid, invalidRequest } from '../validate.ts'

/** The part of a realm record about callbacks. */
export type CallbackRules = Pick<RealmRecord, 'callback_origins' | 'callback_secret'>

export interface CallbackUrl {
  /** `https://hooks.acme.com` */
  readonly origin: string
  /** Path and query. */
  readonly path: string
  /** Origin and path, for listings and messages: never the query. */
  readonly shown: string
}

const MAX_LENGTH = 4096

/**
 * Reads the callback from `kwargs`, which may contain nothing else, as it would have no effect.
 *
 * @param rules undefined: the realm was removed
 * @throws WampError `wamp.error.invalid_argument`, `wamp.error.not_authorized`, `wamp.error.no_such_realm`
 */
export const callbackOf = (
  kwargs: ValueMap,
  rules: CallbackRules | undefined,
  realmUri: string,
): CallbackUrl => {
  refuseOthers(kwargs)
  const text = ownValue(kwargs, 'callback')
  if (typeof text !== 'string') throw invalid('kwargs.callback: expected the URL to post to')
  const url = parseCallback(text)
  if (rules === undefined) {
    throw invalidRequest(
      'wamp.error.no_such_realm',
      `the realm ${realmUri} does not exist any more`,
    )
  }
  if (!isAllowed(url, rules)) {
    throw invalidRequest(
      'wamp.error.not_authorized',
      `kwargs.callback: ${url.origin} is not among the callback_origins of the realm ${realmUri}`,
    )
  }
  return url
}

/** @throws WampError `wamp.error.invalid_argument` for anything beside `callback` */
export const refuseOthers = (kwargs: ValueMap): void => {
  const other = Object.keys(kwargs).find((name) => name !== 'callback')
  if (other === undefined) return
  throw invalid(`kwargs.${other.slice(0, 80)}: this action accepts only \`callback\``)
}

/** `callback_origins` lists origins, or URLs of them; compared as URLs, so case and default ports do not matter. */
export const isAllowed = ({ origin }: CallbackUrl, rules: CallbackRules | undefined): boolean =>
  (rules?.callback_origins ?? []).some((each) => URL.parse(each)?.origin === origin)

const parseCallback = (text: string): CallbackUrl => {
  const url = text.length > MAX_LENGTH ? null : URL.parse(text)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw invalid('kwargs.callback: expected an http or https URL of at most 4096 characters')
  }
  if (url.username !== '' || url.password !== '') {
    throw invalid('kwargs.callback: the URL must not contain a user or password')
  }
  return {
    origin: url.origin,
    path: url.pathname + url.search,
    shown: url.origin + url.pathname,
  }
}
