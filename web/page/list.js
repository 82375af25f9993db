// Shows a list that the server searches and cuts into pages: controls that stay, and below them the page that was read
// last.

import { element, fill } from './dom.js'
import { countText, hashOf } from './format.js'

/** @import { Child } from './dom.js' */

/** What a view has of the page. @typedef {object} ViewDeps
 * @property {URLSearchParams} parameters of the fragment
 * @property {(path: string, parameters?: Readonly<Record<string, string | readonly string[] | null | undefined>>) => Promise<any>} read ends with the view
 * @property {(words: string) => void} say tells readers of screens
 * @property {readonly string[]} gateways names to choose from; none where there is one
 * @property {(task: () => Promise<void>) => Promise<void>} attempt runs a task and shows what fails
 */

/** What a view gives the page: it is shown at once, and `load` is called then and to refresh it.
 * @typedef {object} View
 * @property {string} title
 * @property {Element} content
 * @property {() => Promise<void>} load
 */

/** @typedef {object} ListPage
 * @property {Child[]} content
 * @property {string} count `12 documents`
 * @property {string | null} next
 */

/**
 * @param {object} list
 * @param {string} list.view its name in the fragment
 * @param {string} list.title
 * @param {string} list.hint of the search
 * @param {readonly Filter[]} [list.filters]
 * @param {readonly Child[]} [list.above] stands above the search
 * @param {ViewDeps} deps
 * @param {(parameters: Readonly<Record<string, string>>) => Promise<ListPage>} readPage
 * @returns {View}
 */
export const listView = ({ view, title, hint, filters = [], above = [] }, deps, readPage) => {
  const { parameters, say } = deps
  const search = element('input', {
    type: 'search',
    id: 'search',
    placeholder: hint,
    autocomplete: 'off',
    spellcheck: 'false',
    maxlength: '256',
    'aria-keyshortcuts': '/',
  })
  search.value = parameters.get('match') ?? ''
  const selects = filters.map((filter) => filterOf(filter, parameters))
  const form = element(
    'form',
    { class: 'search', role: 'search' },
    element('label', { for: 'search' }, 'Search'),
    search,
    selects.flatMap(({ label, control }) => [label, control]),
    element('button', { type: 'submit' }, 'Search'),
  )
  const show = () => {
    const chosen = Object.fromEntries(selects.map(({ name, control }) => [name, control.value]))
    location.hash = hashOf(view, { match: search.value.trim(), ...chosen })
  }
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    show()
  })
  for (const { control } of selects) control.addEventListener('change', show)
  const count = element('p', { class: 'count' })
  const rows = element('div', { class: 'rows' })
  const pager = element('nav', { class: 'pager', 'aria-label': 'Pages' })
  return {
    title,
    content: element('section', {}, element('h2', {}, title), ...above, form, count, rows, pager),
    load: async () => {
      const page = await readPage(Object.fromEntries(parameters))
      fill(count, page.count)
      say(page.count)
      fill(rows, ...page.content)
      fill(pager, ...pagesOf(view, parameters, page.next))
    },
  }
}

/**
 * Which gateway is asked, where there are several.
 * @param {ViewDeps} deps
 * @param {string} otherwise what is asked where none is chosen
 * @returns {readonly Filter[]}
 */
export const gatewayFilter = ({ gateways, parameters }, otherwise) => {
  const chosen = parameters.get('gateway') ?? ''
  const names = chosen === '' || gateways.includes(chosen) ? gateways : [chosen, ...gateways]
  if (names.length === 0) return []
  return [
    {
      name: 'gateway',
      label: 'Gateway',
      options: [['', otherwise], ...names.map((name) => /** @type {const} */ ([name, name]))],
    },
  ]
}

/** @typedef {object} Filter
 * @property {string} name in the fragment
 * @property {string} label
 * @property {readonly (readonly [value: string, text: string])[]} options
 */

/**
 * @param {Filter} filter
 * @param {URLSearchParams} parameters
 */
const filterOf = ({ name, label, options }, parameters) => {
  const id = `filter-${name}`
  const control = element(
    'select',
    { id },
    options.map(([value, text]) => element('option', { value }, text)),
  )
  control.value = parameters.get(name) ?? ''
  return { name, label: element('label', { for: id }, label), control }
}

/**
 * @param {string} view
 * @param {URLSearchParams} parameters
 * @param {string | null} next
 */
const pagesOf = (view, parameters, next) => {
  const { after, ...first } = Object.fromEntries(parameters)
  return [
    after !== undefined && element('a', { href: hashOf(view, first) }, 'First page'),
    next !== null && element('a', { href: hashOf(view, { ...first, after: next }) }, 'Next page'),
  ]
}

/**
 * What is said of a page.
 * @param {number} shown
 * @param {number} total
 * @param {string} one
 * @example shownText(100, 1000, 'document') // '100 of 1,000 documents'
 */
export const shownText = (shown, total, one) =>
  shown === total
    ? countText(total, one)
    : `${shown.toLocaleString('en')} of ${countText(total, one)}`
