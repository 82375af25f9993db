// Shows the examples of the playground with their pages and the commands to try.

import { code, element, fill } from './dom.js'
import { isWebAddress } from './format.js'
import { table } from './table.js'

/** @import { ViewDeps, View } from './list.js' */
/** @import { Column } from './table.js' */

/** @typedef {{ file: string, title: string, pages: readonly string[], tries: readonly { command: string, expected: string }[] }} Example */

/**
 * @param {ViewDeps} deps
 * @returns {View}
 */
export const examplesView = ({ read }) => {
  const content = element('div', {})
  return {
    title: 'Examples',
    content: element('section', {}, element('h2', {}, 'Examples'), content),
    load: async () => {
      /** @type {{ examples: readonly Example[] }} */
      const { examples } = await read('/examples')
      fill(content, table('Examples', COLUMNS, examples))
    },
  }
}

/** @type {readonly Column<Example>[]} */
const COLUMNS = [
  {
    title: 'Example',
    isHeader: true,
    cell: ({ file, title }) => [title, element('small', {}, file)],
  },
  {
    title: 'Pages',
    cell: ({ pages }) =>
      pages.map((page) =>
        element('span', { class: 'line' }, isWebAddress(page) ? outside(page) : page),
      ),
  },
  {
    title: 'Commands to try',
    className: 'wide',
    cell: ({ tries }) =>
      tries.map(({ command, expected }) =>
        element(
          'span',
          { class: 'line' },
          code(command),
          expected !== '' && element('small', {}, expected),
        ),
      ),
  },
]

/** @param {string} address */
const outside = (address) =>
  element('a', { href: address, rel: 'noopener noreferrer', target: '_blank' }, address)
