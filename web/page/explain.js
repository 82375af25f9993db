// Explains which route takes a request: a form for method, URL and headers, and what the server says. Credentials are
// replaced before anything is sent, as servers log addresses.

import { code, element, fill, viewLink } from './dom.js'
import { hashOf } from './format.js'
import { definitions, table } from './table.js'

/** @import { Check, Explanation, RouteTaken, TriedHost } from '../../language/explain/explanation.ts' */
/** @import { ViewDeps } from './list.js' */
/** @import { Column } from './table.js' */

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** @param {ViewDeps} deps */
export const explainForm = ({ parameters, read, say, attempt }) => {
  const method = element(
    'select',
    { id: 'method' },
    METHODS.map((each) => element('option', { value: each }, each)),
  )
  method.value = parameters.get('method') ?? 'GET'
  const url = element('input', {
    id: 'url',
    type: 'text',
    inputmode: 'url',
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder: 'https://api.acme.com/v1/users/42',
    maxlength: '8192',
  })
  url.value = parameters.get('url') ?? ''
  const headers = element('textarea', {
    id: 'headers',
    rows: '2',
    spellcheck: 'false',
    placeholder: 'Accept: application/json',
  })
  const result = element('div', { id: 'explanation' })
  const form = element(
    'form',
    { class: 'explain', 'aria-label': 'Explain a request' },
    element('label', { for: 'method' }, 'Method'),
    method,
    element('label', { for: 'url' }, 'URL'),
    url,
    element('button', { type: 'submit' }, 'Explain'),
    element(
      'details',
      {},
      element('summary', {}, 'Headers'),
      element('label', { for: 'headers' }, 'One a line; values of credentials are not sent'),
      headers,
    ),
  )
  const load = async () => {
    if (url.value.trim() === '') {
      fill(result)
      return
    }
    const gateway = parameters.get('gateway')
    const request = requestOf(method.value, url.value, headers.value)
    /** @type {Explanation & { gateway?: string }} */
    const explanation = await read('/explain', { ...request, gateway })
    fill(result, ...explanationOf(explanation))
    say(verdictText(explanation))
  }
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    const request = requestOf(method.value, url.value, headers.value)
    parameters.set('method', request.method)
    parameters.set('url', request.url)
    // Without an event: the view stays, with the headers as they were typed.
    history.replaceState(null, '', hashOf('routes', Object.fromEntries(parameters)))
    fill(result)
    void attempt(load)
  })
  return { content: element('div', {}, form, result), load }
}

/**
 * What is sent of a request: of its URL neither the user nor the query, of credentials only that they are there.
 * @param {string} method
 * @param {string} url
 * @param {string} headers one a line
 * @example requestOf('GET', 'https://me:secret@a.test/x?token=1', '').url // 'https://a.test/x'
 */
export const requestOf = (method, url, headers) => ({
  method,
  url: url
    .trim()
    .replace(/[?#].*$/s, '')
    .replace(/^([^/?#]*\/\/)[^/?#]*@/, '$1'),
  header: headers
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map(withoutCredentials),
})

/** Headers whose values decide which route takes a request, or what it lacks. */
const DECIDING = new Set([
  'host',
  'accept',
  'content-type',
  'content-length',
  'transfer-encoding',
  'upgrade',
  'sec-fetch-mode',
  'sec-fetch-dest',
])

/**
 * As the command line does it.
 * @param {string} line
 */
export const withoutCredentials = (line) => {
  const colon = line.indexOf(':')
  const name = line.slice(0, Math.max(colon, 0))
  const value = line.slice(colon + 1).trim()
  if (value === '' || DECIDING.has(name.toLowerCase())) return line
  const scheme = name.toLowerCase() === 'authorization' ? /^[\w-]{1,32} /.exec(value)?.[0] : ''
  return `${name}: ${scheme ?? ''}(hidden)`
}

/** @param {Explanation} explanation */
const verdictText = ({ verdict }) => {
  if (verdict.outcome === 'rejected')
    return `Rejected with ${verdict.status} ${verdict.code}: ${verdict.message}`
  const status = verdict.status === null ? '' : ` with ${verdict.status}`
  return `Served${status}${verdict.message === '' ? '' : `: ${verdict.message}`}`
}

/** @param {Explanation & { gateway?: string }} explanation */
const explanationOf = (explanation) => {
  const { verdict, route, checks, tried, inactive, note, gateway } = explanation
  return [
    element(
      'p',
      { class: verdict.outcome === 'served' ? 'verdict good' : 'verdict bad' },
      verdictText(explanation),
    ),
    definitions([
      ...(route === null
        ? [/** @type {const} */ (['Route', 'none takes it'])]
        : routeEntries(route)),
      ['Note', note],
      ['As', gateway],
    ]),
    checks.length > 0 && table('Steps', CHECK_COLUMNS, checks),
    tried.length > 0 && table('Hosts that were tried', TRIED_COLUMNS, tried),
    ...inactive.map(({ document, version, path }) =>
      element(
        'p',
        { class: 'note' },
        'Version ',
        code(version),
        ' of ',
        code(document),
        ' has ',
        code(path),
        ', and is not active.',
      ),
    ),
  ]
}

/**
 * @param {RouteTaken} route
 * @returns {Parameters<typeof definitions>[0]}
 */
const routeEntries = ({ method, path, document, version, realm, action, pointer }) => [
  ['Route', code(`${method?.toUpperCase() ?? ''} ${path}`.trim())],
  [
    'Document',
    document === '' ? null : viewLink(hashOf('documents', { match: document }), document),
  ],
  ['Version', version],
  ['Realm', realm],
  ['Action', action],
  ['Pointer', pointer === null ? null : code(pointer)],
]

/** @type {readonly Column<Check>[]} */
const CHECK_COLUMNS = [
  { title: 'Step', isHeader: true, cell: ({ name }) => name },
  { title: 'Result', cell: ({ result }) => result },
  { title: 'Why', className: 'wide', cell: ({ message }) => message },
]

/** @type {readonly Column<TriedHost>[]} */
const TRIED_COLUMNS = [
  { title: 'Host', isHeader: true, cell: ({ host }) => code(host) },
  { title: 'Path that matched furthest', className: 'wide', cell: ({ path }) => code(path) },
  { title: 'Document', cell: ({ document }) => document },
  { title: 'Result', cell: ({ outcome, reason }) => (outcome === 'matched' ? 'matches' : reason) },
]
