// Shows routes, and explains which of them takes a request.

import { code, element, viewLink } from './dom.js'
import { explainForm } from './explain.js'
import { countText, hashOf } from './format.js'
import { gatewayFilter, listView } from './list.js'
import { table } from './table.js'

/** @import { RouteRow } from '../../language/explain/list-routes.ts' */
/** @import { ViewDeps, View } from './list.js' */
/** @import { Column } from './table.js' */

/** A server looks at some documents for each page, so that one may be empty although more follow. */
const MOST_PAGES_READ = 20

/** @typedef {{ routes: readonly RouteRow[], left_out: readonly string[], next: string | null, gateway?: string }} RoutesPage */

/**
 * @param {ViewDeps} deps
 * @returns {View}
 */
export const routesView = (deps) => {
  const explain = explainForm(deps)
  const view = listView(
    {
      view: 'routes',
      title: 'Routes',
      hint: 'host, path, action, realm or document',
      filters: gatewayFilter(deps, 'any that is ready'),
      above: [explain.content],
    },
    deps,
    async (parameters) => {
      const { routes, leftOut, next, gateway } = await readRoutes(deps, parameters)
      return {
        content: [
          routes.length > 0 && table('Routes', COLUMNS, routes),
          ...leftOut.map((line) => element('p', { class: 'note' }, line)),
        ],
        count: [
          routes.length === 0 && next !== null
            ? 'Nothing found so far'
            : countText(routes.length, 'route'),
          next === null ? '' : ', and more follow',
          gateway === undefined ? '' : `, of ${gateway}`,
        ].join(''),
        next,
      }
    },
  )
  return {
    ...view,
    load: async () => {
      await Promise.all([view.load(), explain.load()])
    },
  }
}

/**
 * @param {ViewDeps} deps
 * @param {Readonly<Record<string, string>>} parameters of the fragment: of them those of the list
 */
const readRoutes = async ({ read }, { match = '', gateway = '', after = '' }) => {
  /** @type {RouteRow[]} */
  const routes = []
  /** @type {string[]} */
  const leftOut = []
  /** @type {string | null} */
  let next = after
  /** @type {string | undefined} */
  let answered
  for (let page = 0; page < MOST_PAGES_READ && next !== null && routes.length === 0; page++) {
    /** @type {RoutesPage} */
    const found = await read('/routes', { match, gateway, after: next, limit: '100' })
    routes.push(...found.routes)
    leftOut.push(...found.left_out)
    next = found.next
    answered = found.gateway
  }
  return { routes, leftOut, next, gateway: answered }
}

/** @type {readonly Column<RouteRow>[]} */
const COLUMNS = [
  {
    title: 'Route',
    isHeader: true,
    className: 'wide',
    cell: ({ methods, host, path, active }) => [
      element('span', { class: 'methods' }, methods.join(' ')),
      ' ',
      code(`${host === '_' ? '' : host}${path}`),
      host === '_' && element('small', {}, 'on every host'),
      !active && element('small', { class: 'bad' }, 'its version is not active'),
    ],
  },
  { title: 'Action', className: 'wide', cell: ({ action }) => action },
  { title: 'Security', cell: ({ security }) => security },
  {
    title: 'Document',
    cell: ({ document, version }) => [
      document === ''
        ? 'the gateway itself'
        : viewLink(hashOf('documents', { match: document }), document),
      version !== '' && element('small', {}, version),
    ],
  },
  { title: 'Realm', cell: ({ realm }) => realm },
  { title: 'Pointer', cell: ({ pointer }) => pointer !== '' && code(pointer) },
]
