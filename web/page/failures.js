// Shows recent failures, and why one request was answered as it was.

import { code, element, fill, viewLink } from './dom.js'
import { countText, hashOf, timeText } from './format.js'
import { gatewayFilter, listView } from './list.js'
import { definitions, table } from './table.js'

/** @import { Decision, DecisionDocument, TriedRoute } from '../../dataplane/decisions/decision.ts' */
/** @import { Child } from './dom.js' */
/** @import { ViewDeps, View } from './list.js' */
/** @import { Column } from './table.js' */

/** @import { DecisionSentences } from '../../dataplane/management/describe-decision.ts' */

/** @typedef {Decision & { sentences?: DecisionSentences }} Described */
/** @typedef {Described & { ended_ms: number, gateway?: string }} Failure */
/** Alike: of one route, with one result. @typedef {Failure & { count: number }} Failures */

/**
 * @param {ViewDeps} deps
 * @returns {View}
 */
export const failuresView = (deps) =>
  listView(
    {
      view: 'failures',
      title: 'Failures',
      hint: 'document, path, code or status',
      filters: gatewayFilter(deps, 'all'),
      above: [
        element(
          'p',
          { class: 'note' },
          'Requests that failed within the last 15 minutes, as the gateways keep them.',
        ),
        requestForm(),
      ],
    },
    deps,
    async ({ match = '', gateway = '', after = '' }) => {
      const query = { match, gateway, before: after }
      /** @type {{ failures: readonly Failure[], next: number | null, silent?: readonly string[], skipped?: number }} */
      const found = await deps.read('/why', query)
      const { failures, next, silent = [], skipped = 0 } = found
      return {
        content: [
          silent.length > 0 &&
            element('p', { class: 'problem' }, `No response from ${silent.join(', ')}.`),
          skipped > 0 &&
            element(
              'p',
              { class: 'note' },
              `${countText(skipped, 'gateway')} were not asked: choose one.`,
            ),
          failures.length > 0 && table('Failures', COLUMNS, alike(failures)),
        ],
        count: `${countText(failures.length, 'failure')}${next === null ? '' : ', and more before'}`,
        next: next === null ? null : String(next),
      }
    },
  )

/** Leads to the reason for one request, also for one that has not failed. */
const requestForm = () => {
  const id = element('input', {
    id: 'request',
    type: 'text',
    autocomplete: 'off',
    spellcheck: 'false',
    maxlength: '128',
  })
  const form = element(
    'form',
    { class: 'search', 'aria-label': 'One request' },
    element('label', { for: 'request' }, 'Request id (X-Request-Id)'),
    id,
    element('button', { type: 'submit' }, 'Why?'),
  )
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    if (id.value.trim() !== '') location.hash = hashOf('why', { id: id.value.trim() })
  })
  return form
}

/**
 * The newest of those that differ in time alone, with their number.
 * @param {readonly Failure[]} failures the newest first
 * @returns {readonly Failures[]}
 */
export const alike = (failures) => {
  /** @type {Map<string, Failures>} */
  const found = new Map()
  for (const each of failures) {
    const key = keyOf(each)
    // A copy: a row of a broken reply may be null.
    const row = { ...each, count: 1 }
    row.count += row.more ?? 0
    const known = found.get(key)
    if (known === undefined) found.set(key, row)
    else known.count += row.count
  }
  return [...found.values()]
}

/**
 * A gateway may say anything: a row that cannot be shown is like no other.
 * @param {Failure} failure
 */
const keyOf = (failure) => {
  try {
    const { method, status, step, code: text, reason, document, path, gateway } = failure
    const route = document === undefined ? path : `${document.id} ${document.path}`
    return JSON.stringify([method, status, step, text, reason, route, gateway])
  } catch {
    return JSON.stringify(failure)
  }
}

/** @type {readonly Column<Failures>[]} */
const COLUMNS = [
  {
    title: 'Request',
    isHeader: true,
    cell: ({ id, at, gateway }) => [
      viewLink(hashOf('why', { id }), timeText(at)),
      gateway !== undefined && element('small', {}, gateway),
    ],
  },
  { title: 'Status', cell: ({ status }) => element('span', { class: 'methods' }, String(status)) },
  {
    title: 'Route',
    className: 'wide',
    cell: ({ method, document, path }) => [
      element('span', { class: 'methods' }, method.toUpperCase()),
      ' ',
      code(document?.path ?? path ?? ''),
      element('small', {}, document === undefined ? 'no document' : document.id),
    ],
  },
  {
    title: 'Why',
    className: 'wide',
    cell: ({ step, code: text, reason, sentences }) => [
      element('span', {}, sentences?.why ?? reason ?? step),
      text !== undefined && element('small', {}, text),
    ],
  },
  { title: 'Count', cell: ({ count }) => countText(count, 'time') },
  { title: 'Took', cell: ({ ms }) => `${ms} ms` },
]

/**
 * @param {ViewDeps} deps
 * @returns {View}
 */
export const whyView = ({ parameters, read }) => {
  const id = parameters.get('id') ?? ''
  const content = element('div', {})
  return {
    title: `Why ${id}`,
    content: element(
      'section',
      {},
      element('p', {}, viewLink(hashOf('failures'), 'All failures')),
      element('h2', {}, 'Why'),
      element('p', {}, code(id)),
      content,
    ),
    load: async () => {
      fill(
        content,
        ...decisionsOf(await read(`/why/${encodeURIComponent(id)}`)).flatMap(shownDecision),
      )
    },
  }
}

/**
 * An operator has them by gateway.
 * @param {{ decisions?: readonly Described[], gateways?: readonly { name: string, decisions: readonly Described[] }[] }} response
 * @returns {readonly (readonly [Described, string | null])[]}
 */
export const decisionsOf = ({ decisions = [], gateways = [] }) => [
  ...decisions.map((each) => /** @type {const} */ ([each, null])),
  ...gateways.flatMap(({ name, decisions: some }) =>
    some.map((each) => /** @type {const} */ ([each, name])),
  ),
]

/**
 * A gateway may say anything: what cannot be shown hides no other.
 * @param {readonly [Described, string | null]} entry
 * @returns {Child[]}
 */
const shownDecision = (entry) => {
  try {
    return decision(entry)
  } catch {
    return [element('p', { class: 'note' }, 'A decision that cannot be shown.')]
  }
}

/** @param {readonly [Described, string | null]} entry */
const decision = ([{ document, caller, tried = [], sentences, ...each }, gateway]) => [
  ...(sentences === undefined
    ? []
    : [
        sentences.came,
        sentences.decided,
        `Why: ${sentences.why}`,
        `What to do: ${sentences.remedy}`,
      ]
  ).map((sentence) => element('p', {}, `${sentence}.`)),
  definitions([
    ['Status', String(each.status)],
    ['Decided at', each.step],
    ['Code', each.code],
    ['Reason', each.reason],
    ['Pointer', codeOf(each.pointer)],
    ['Upstream', each.upstream],
    ['Detail', each.detail],
    ['Path', codeOf(each.path)],
    ...(document === undefined
      ? [/** @type {const} */ (['Document', 'none served it'])]
      : documentEntries(document)),
    ['Attempts', each.attempts?.toString()],
    ['Method', each.method.toUpperCase()],
    ['Scheme', each.scheme],
    ['At', timeText(each.at)],
    ['Took', `${each.ms} ms`],
    ['Caller', caller && `${caller.hash} (${caller.scheme})`],
    ['Gateway', gateway],
  ]),
  nearest(tried).length > 0 && table('Routes that were nearest', TRIED_COLUMNS, nearest(tried)),
]

/**
 * Those that match nothing of the path are near to nothing.
 * @param {readonly TriedRoute[]} tried
 */
const nearest = (tried) => tried.filter(({ matchedSegments }) => matchedSegments !== 0)

/**
 * @param {DecisionDocument} document
 * @returns {Parameters<typeof definitions>[0]}
 */
const documentEntries = ({ id, path, version, digest, realm, action }) => [
  ['Document', viewLink(hashOf('documents', { match: id }), id)],
  ['Route', code(path)],
  ['Version', version],
  ['Digest', codeOf(digest)],
  ['Realm', realm],
  ['Action', action],
]

/** @param {string | undefined} text */
const codeOf = (text) => (text === undefined ? null : code(text))

/** @type {readonly Column<TriedRoute>[]} */
const TRIED_COLUMNS = [
  {
    title: 'Nearest route',
    isHeader: true,
    className: 'wide',
    cell: ({ host, path }) => code(`${host}${path}`),
  },
  { title: 'Document', cell: ({ document }) => document },
  { title: 'Why not', cell: ({ reason }) => reason },
]
