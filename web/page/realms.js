// Shows realms with the sessions that gateways have with their routers, and with their identity providers.

import { element } from './dom.js'
import { stateBadge } from './documents.js'
import { countText, sessionsText } from './format.js'
import { listView, shownText } from './list.js'
import { table } from './table.js'

/** @import { ProviderRow, RealmRow, RealmsPage } from '../overview.ts' */
/** @import { ViewDeps, View } from './list.js' */
/** @import { Column } from './table.js' */

/**
 * @param {ViewDeps} deps
 * @returns {View}
 */
export const realmsView = (deps) =>
  listView({ view: 'realms', title: 'Realms', hint: 'uri or name' }, deps, async (parameters) => {
    /** @type {RealmsPage} */
    const { realms, total, next } = await deps.read('/overview/realms', parameters)
    return {
      content: [realms.length > 0 && table('Realms', COLUMNS, realms)],
      count: shownText(realms.length, total, 'realm'),
      next,
    }
  })

/** @type {readonly Column<RealmRow>[]} */
const COLUMNS = [
  {
    title: 'Realm',
    isHeader: true,
    cell: ({ uri, key }) => [
      uri === '' ? (key ?? '') : uri,
      uri !== '' && key !== null && element('small', {}, key),
    ],
  },
  { title: 'State', cell: ({ state, reason }) => stateBadge(state, reason) },
  { title: 'Documents', cell: ({ documents }) => documents },
  { title: 'Gateways', cell: ({ gateways }) => gateways },
  {
    title: 'Sessions with the router',
    cell: ({ sessions, troubles }) => [
      sessionsText(sessions),
      ...troubles.map((text) => element('small', {}, text)),
    ],
  },
  {
    title: 'Identity providers',
    cell: ({ providers }) => (providers.length === 0 ? 'none' : providers.map(provider)),
  },
  {
    title: 'Problem',
    className: 'wide',
    cell: ({ state, message, place }) => [
      state !== 'ready' && message,
      state !== 'ready' && place !== null && element('small', {}, element('code', {}, place)),
    ],
  },
]

/** @param {ProviderRow} row */
const provider = ({ name, failing, causes }) =>
  element(
    'span',
    { class: 'line' },
    name,
    failing > 0 &&
      element(
        'small',
        { class: 'bad' },
        `fails at ${countText(failing, 'gateway')}: ${causes.join(', ')}`,
      ),
  )
