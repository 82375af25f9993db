// Suggests what the author may have meant by a name that a document must not have: a misspelt property, or one of other
// gateways.

import { didYouMean, nearestName } from '../../base/nearest-name.ts'

/** What to write instead of what other gateways have. */
const WISHES: ReadonlyMap<string, string> = new Map([
  [
    'cors',
    'CORS is a matter of response headers and of the method options: examples/10-cors.yaml has both',
  ],
  ['schema', 'bodies are not validated here: leave that to the service behind'],
  ['validation', 'bodies are not validated here: leave that to the service behind'],
  ['ratelimit', 'there are no rate limits: put them before or behind the gateway'],
  ['throttle', 'there are no rate limits: put them before or behind the gateway'],
  ['quota', 'there are no rate limits: put them before or behind the gateway'],
  ['cache', 'responses are not cached: say so to caches with the header cache-control'],
  ['caching', 'responses are not cached: say so to caches with the header cache-control'],
  ['auth', "who may call is said by 'security' of a path, a version or the API"],
  ['authentication', "who may call is said by 'security' of a path, a version or the API"],
  ['authorization', "who may call is said by 'security' of a path, a version or the API"],
  ['upstream', "where requests go is said by an action: type: forward, and its 'host'"],
  ['backend', "where requests go is said by an action: type: forward, and its 'host'"],
  ['target', "where requests go is said by an action: type: forward, and its 'host'"],
  ['proxypass', "where requests go is said by an action: type: forward, and its 'host'"],
  ['url', "an upstream is said by 'host', 'path' and 'query_string' of an action of type forward"],
  [
    'method',
    "methods are keys of the path (get, post, …); that of the upstream is 'http_method' of the action",
  ],
  ['methods', 'methods are keys of the path: get, post, …'],
  [
    'contenttype',
    "media types are said by 'accepts' (of requests) and 'provides' (of responses) of a path",
  ],
  [
    'produces',
    "media types are said by 'accepts' (of requests) and 'provides' (of responses) of a path",
  ],
  [
    'consumes',
    "media types are said by 'accepts' (of requests) and 'provides' (of responses) of a path",
  ],
  ['onsuccess', "it is called 'on_result'"],
  ['onfailure', "it is called 'on_error'"],
  ['status', "it is called 'status_code', in on_result and on_error"],
  ['statuscode', "it belongs in 'on_result' of the response, or in 'on_error'"],
  ['rewrite', "the path at the upstream is 'path' of the action"],
  [
    'redirect',
    "a redirection is a static action with the header location and a 'status_code' in on_result",
  ],
  ['trace', 'there are delete, get, head, options, patch, post and put'],
  ['connect', 'there are delete, get, head, options, patch, post and put'],
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
