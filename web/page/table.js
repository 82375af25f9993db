// Makes tables, whose rows become blocks with labels on a narrow screen.

import { element } from './dom.js'

/** @import { Child } from './dom.js' */

/**
 * @template Row
 * @typedef {object} Column
 * @property {string} title
 * @property {(row: Row) => Child | readonly Child[]} cell
 * @property {boolean} [isHeader] it names the row
 * @property {string} [className]
 */

/**
 * @template Row
 * @param {string} caption for readers of screens
 * @param {readonly Column<Row>[]} columns
 * @param {readonly Row[]} rows
 */
export const table = (caption, columns, rows) =>
  element(
    'table',
    {},
    element('caption', { class: 'hidden' }, caption),
    element(
      'thead',
      {},
      element(
        'tr',
        {},
        columns.map(({ title }) => element('th', { scope: 'col' }, title)),
      ),
    ),
    element(
      'tbody',
      {},
      rows.map((row) => element('tr', {}, cellsOf(columns, row))),
    ),
  )

/**
 * A gateway may say anything: a row that cannot be shown hides no other.
 * @template Row
 * @param {readonly Column<Row>[]} columns
 * @param {Row} row
 */
const cellsOf = (columns, row) => {
  try {
    return columns.map((column) => cellOf(column, row))
  } catch {
    const attributes = { class: 'note', colspan: String(columns.length) }
    return [element('td', attributes, 'A row that cannot be shown.')]
  }
}

/**
 * @template Row
 * @param {Column<Row>} column
 * @param {Row} row
 */
const cellOf = ({ title, cell, isHeader = false, className = '' }, row) => {
  const content = cell(row)
  const attributes = { 'data-label': title, ...(className !== '' && { class: className }) }
  return isHeader
    ? element('th', { scope: 'row', ...attributes }, content)
    : element('td', attributes, content)
}

/**
 * Names and values.
 * @param {readonly (readonly [name: string, value: Child | readonly Child[]])[]} entries a value of null is left out
 */
export const definitions = (entries) =>
  element(
    'dl',
    {},
    entries.flatMap(([name, value]) =>
      value === null || value === undefined || value === ''
        ? []
        : [element('dt', {}, name), element('dd', {}, value)],
    ),
  )
