// Shows documents with their state, errors and places, and one document with the versions that gateways hold.

import { code, element, fill, viewLink } from './dom.js'
import {
  countText,
  hashOf,
  hostText,
  shortDigest,
  stateMark,
  stateWord,
  timeText,
} from './format.js'
import { listView, shownText } from './list.js'
import { definitions, table } from './table.js'

/** @import { ConditionRow, DiagnosticRow, DocumentDetail, DocumentRow, DocumentsPage, State, VersionRow } from '../overview.ts' */
/** @import { ViewDeps, View } from './list.js' */
/** @import { Column } from './table.js' */

/**
 * @param {ViewDeps} deps
 * @returns {View}
 */
export const documentsView = (deps) =>
  listView(
    {
      view: 'documents',
      title: 'Documents',
      hint: 'name, id, host or realm',
      filters: [
        {
          name: 'state',
          label: 'State',
          options: [
            ['', 'all'],
            ...STATES.map((state) => /** @type {const} */ ([state, stateWord(state)])),
          ],
        },
      ],
    },
    deps,
    async (parameters) => {
      /** @type {DocumentsPage} */
      const { documents, total, next } = await deps.read('/overview/documents', parameters)
      return {
        content: [documents.length > 0 && table('Documents', COLUMNS, documents)],
        count: shownText(documents.length, total, 'document'),
        next,
      }
    },
  )

/** @type {readonly State[]} */
const STATES = ['failed', 'degraded', 'pending', 'ready']

/**
 * @param {State} state
 * @param {string} [reason]
 */
export const stateBadge = (state, reason = '') =>
  element(
    'span',
    { class: `state ${state}` },
    element('span', { 'aria-hidden': 'true' }, stateMark(state)),
    ` ${stateWord(state)}`,
    reason !== '' && reason !== stateWord(state) && element('small', {}, ` ${reason}`),
  )

/** @type {readonly Column<DocumentRow>[]} */
const COLUMNS = [
  {
    title: 'Document',
    isHeader: true,
    cell: ({ key, id }) => [
      viewLink(hashOf('document', { key }), key),
      id !== null && id !== key && !key.endsWith(`/${id}`) && element('small', {}, id),
    ],
  },
  { title: 'State', cell: ({ state, reason }) => stateBadge(state, reason) },
  {
    title: 'Problem',
    className: 'wide',
    cell: ({ state, message, place, pointer, errors, warnings }) => [
      state !== 'ready' && element('span', {}, message),
      errors > 0 && place !== null && element('small', {}, code(place)),
      errors > 0 && pointer !== null && element('small', {}, code(pointer)),
      errors > 1 && element('small', {}, countText(errors, 'error')),
      warnings > 0 && element('small', {}, countText(warnings, 'warning')),
    ],
  },
  { title: 'Host', cell: ({ host }) => hostText(host) },
  { title: 'Realm', cell: ({ realm }) => realm },
  { title: 'Gateways', cell: ({ gateways }) => gateways },
]

/**
 * @param {ViewDeps} deps
 * @returns {View}
 */
export const documentView = ({ parameters, read }) => {
  const key = parameters.get('key') ?? ''
  const content = element('div', {})
  return {
    title: key,
    content: element(
      'section',
      {},
      element('p', {}, viewLink(hashOf('documents'), 'All documents')),
      element('h2', {}, key),
      content,
    ),
    load: async () => {
      fill(content, ...detail(await read('/overview/document', { key })))
    },
  }
}

/** @param {DocumentDetail} detail */
const detail = ({ document: row, conditions, errors, warnings, moreDiagnostics, versions }) => [
  definitions([
    ['State', stateBadge(row.state, row.reason)],
    ['Message', row.message],
    ['Place', row.place === null ? null : code(row.place)],
    ['Id', row.id],
    ['Host', hostText(row.host)],
    ['Realm', row.realm],
    ['Generation', row.generation === null ? null : String(row.generation)],
    ['Serving', row.serving],
    ['Gateways', row.gateways],
    ['Digest', row.digest === null ? null : code(row.digest)],
    [
      'Routes',
      row.id === null ? null : viewLink(hashOf('routes', { match: row.id }), 'search its routes'),
    ],
    [
      'Failures',
      row.id === null
        ? null
        : viewLink(hashOf('failures', { match: row.id }), 'search its failures'),
    ],
  ]),
  ...diagnostics('Errors', errors),
  ...diagnostics('Warnings', warnings),
  moreDiagnostics > 0 && element('p', {}, `${moreDiagnostics} more are not listed.`),
  versions.length > 0 && element('h3', {}, 'Which gateways hold it'),
  versions.length > 0 && table('Versions', VERSION_COLUMNS, versions),
  conditions.length > 0 && element('h3', {}, 'Conditions'),
  conditions.length > 0 && table('Conditions', CONDITION_COLUMNS, conditions),
]

/**
 * @param {string} title
 * @param {readonly DiagnosticRow[]} rows
 */
const diagnostics = (title, rows) =>
  rows.length === 0 ? [] : [element('h3', {}, title), table(title, DIAGNOSTIC_COLUMNS, rows)]

/** @type {readonly Column<DiagnosticRow>[]} */
const DIAGNOSTIC_COLUMNS = [
  { title: 'Message', isHeader: true, className: 'wide', cell: ({ message }) => message },
  { title: 'Place', cell: ({ place }) => place !== null && code(place) },
  { title: 'Pointer', cell: ({ pointer }) => code(pointer) },
  { title: 'Code', cell: ({ code: text }) => text },
]

/** @type {readonly Column<VersionRow>[]} */
const VERSION_COLUMNS = [
  {
    title: 'Version',
    isHeader: true,
    cell: ({ digest, isWanted }) => [
      digest === null ? 'none' : code(shortDigest(digest)),
      element('small', {}, isWanted ? 'as it should be' : 'to be changed'),
    ],
  },
  { title: 'Gateways', cell: ({ count }) => count },
  {
    title: 'Names',
    className: 'wide',
    cell: ({ gateways, count }) => [
      ...gateways.flatMap((name, i) => [
        i > 0 && ', ',
        viewLink(hashOf('gateway', { name }), name),
      ]),
      count > gateways.length && ` and ${count - gateways.length} more`,
    ],
  },
]

/** @type {readonly Column<ConditionRow>[]} */
const CONDITION_COLUMNS = [
  { title: 'Type', isHeader: true, cell: ({ type }) => type },
  { title: 'Status', cell: ({ status }) => status },
  { title: 'Reason', cell: ({ reason }) => reason },
  { title: 'Message', className: 'wide', cell: ({ message }) => message },
  { title: 'Since', cell: ({ since }) => timeText(since) },
]
