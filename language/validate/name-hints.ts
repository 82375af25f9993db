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

/** What stands elsewhere in a document or resource. */
const MISPLACED: Readonly<Record<string, string>> = {
  ...instead("it stands in 'response', which is a neighbour of 'action'", 'onresult', 'onerror'),
  ...instead("it is a neighbour of 'action', in the operation", 'response'),
  ...instead("it stands in 'spec' of the resource, as a neighbour of 'document'", 'variablesfrom'),
  ...instead('write each method: its action may be one variable for all', 'any', 'all'),
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
  const plain = name.toLowerCase().replaceAll(/[-_]/g, '')
  const wish = WISHES.get(plain) ?? ownWish(MISPLACED, plain) ?? wishByForm(name)
  return wish === undefined ? '' : `; ${wish}`
}

const ownWish = (wishes: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.hasOwn(wishes, name) ? wishes[name] : undefined

const wishByForm = (name: string): string | undefined => {
  if (name.startsWith('/'))
    return "a path is a key of 'paths': write it there, with all of its segments"
  return /^[1-5]\d\d$/.test(name)
    ? 'to choose by the status, look it up: {{variables.texts |> get({{action.error.status_code}}, DEFAULT)}}'
    : undefined
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
