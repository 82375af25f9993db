// Shows recent failures, and why one request was answered as it was.

import { code, element, fill, viewLink } from './dom.js'
import { countText, hashOf, timeText } from './format.js'
import { gatewayFilter, listView } from './list.js'
import { definitions, table } from './table.js'

/** @import { Decision, DecisionDocument, TriedRoute } from '../../dataplane/decisions/decision.ts' */
/** @import { Child } from './dom.js' */
/** @import { ViewDeps, View } from './list.js' */
/** @import { Column } from './table.js' */

/** @typedef {Decision & { ended_ms: number, gateway?: string }} Failure */

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
          failures.length > 0 && table('Failures', COLUMNS, failures),
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

/** @type {readonly Column<Failure>[]} */
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
    cell: ({ method, document }) => [
      element('span', { class: 'methods' }, method.toUpperCase()),
      ' ',
      document === undefined ? 'no document' : code(document.path),
      document !== undefined && element('small', {}, document.id),
    ],
  },
  {
    title: 'Why',
    className: 'wide',
    cell: ({ step, code: text, reason, more }) => [
      element('span', {}, step),
      reason !== undefined && element('span', {}, `: ${reason}`),
      text !== undefined && element('small', {}, text),
      more !== undefined && element('small', {}, `${more} more were not recorded`),
    ],
  },
  { title: 'Pointer', cell: ({ pointer }) => pointer !== undefined && code(pointer) },
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
 * @param {{ decisions?: readonly Decision[], gateways?: readonly { name: string, decisions: readonly Decision[] }[] }} response
 * @returns {readonly (readonly [Decision, string | null])[]}
 */
export const decisionsOf = ({ decisions = [], gateways = [] }) => [
  ...decisions.map((each) => /** @type {const} */ ([each, null])),
  ...gateways.flatMap(({ name, decisions: some }) =>
    some.map((each) => /** @type {const} */ ([each, name])),
  ),
]

/**
 * A gateway may say anything: what cannot be shown hides no other.
 * @param {readonly [Decision, string | null]} entry
 * @returns {Child[]}
 */
const shownDecision = (entry) => {
  try {
    return decision(entry)
  } catch {
    return [element('p', { class: 'note' }, 'A decision that cannot be shown.')]
  }
}

/** @param {readonly [Decision, string | null]} entry */
const decision = ([{ document, caller, tried = [], ...each }, gateway]) => [
  definitions([
    ['Status', String(each.status)],
    ['Decided at', each.step],
    ['Code', each.code],
    ['Reason', each.reason],
    ['Pointer', codeOf(each.pointer)],
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
  tried.length > 0 && table('Routes that were nearest', TRIED_COLUMNS, tried),
]

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
