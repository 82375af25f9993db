// Suggests what the author may have meant by a name that a document must not have: a misspelt property, or one of other
// gateways.

import { didYouMean, nearestName } from '../../base/nearest-name.ts'
import { instead, type KeySchema, WISHED } from '../schema/document-notation.ts'
import { DOCUMENT_SCHEMA } from './document-schema.ts'

/**
 * What other gateways have and this one has not: a test fails for a name that documents may have.
 * @internal exported for tests
 */
export const ABSENT: Readonly<Record<string, string>> = {
  ...instead(
    'responses are not cached: say so to caches with the header cache-control',
    'cache',
    'caching',
  ),
  ...instead(
    "a redirection is a static action with the header location and a 'status_code' in on_result",
    'redirect',
  ),
  ...instead('there are delete, get, head, options, patch, post and put', 'trace', 'connect'),
}

/** What to write in place of names that authors wish for: each key says that of its own. */
const WISHES: ReadonlyMap<string, string> = new Map([
  ...Object.entries(ABSENT),
  ...[DOCUMENT_SCHEMA, ...Object.values(DOCUMENT_SCHEMA.$defs)].flatMap(({ properties = {} }) =>
    Object.values<KeySchema>(properties).flatMap((schema) => Object.entries(schema[WISHED] ?? {})),
  ),
])

/**
 * The end of a sentence about a name that is not known; empty where nothing comes to mind.
 * @example hintFor('respones', ['response']) // "; did you mean 'response'?"
 */
export const hintFor = (name: string, known: Iterable<string>): string => {
  const near = didYouMean(name, known)
  if (near !== '') return near
  const wish = WISHES.get(name.toLowerCase().replaceAll(/[-_]/g, ''))
  return wish === undefined ? '' : `; ${wish}`
}

/**
 * The end of a sentence about a name that is missing, where another one stands that looks like it.
 * @param others names that stand there and are not known
 * @example misspelling('base_path', ['basepath']) // " Is 'basepath' a misspelling of it?"
 */
export const misspelling = (missing: string, others: Iterable<string>): string => {
  const near = nearestName(missing, others)
  return near === undefined ? '' : ` Is '${near}' a misspelling of it?`
}
