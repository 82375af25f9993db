// Shows gateways with what they hold and how far behind they are, and one gateway with what differs there.

import { code, element, fill, viewLink } from './dom.js'
import { stateBadge } from './documents.js'
import { hashOf, lagText, shortDigest } from './format.js'
import { listView, shownText } from './list.js'
import { definitions, table } from './table.js'

/** @import { DifferenceRow, GatewayDetail, GatewayRow, GatewaysPage } from '../overview.ts' */
/** @import { ViewDeps, View } from './list.js' */
/** @import { Column } from './table.js' */

/**
 * @param {ViewDeps} deps
 * @returns {View}
 */
export const gatewaysView = (deps) =>
  listView(
    { view: 'gateways', title: 'Gateways', hint: 'name, address or phase' },
    deps,
    async (parameters) => {
      /** @type {GatewaysPage} */
      const { gateways, total, next } = await deps.read('/overview/gateways', parameters)
      return {
        content: [gateways.length > 0 && table('Gateways', COLUMNS, gateways)],
        count: shownText(gateways.length, total, 'gateway'),
        next,
      }
    },
  )

/** @type {readonly Column<GatewayRow>[]} */
const COLUMNS = [
  {
    title: 'Gateway',
    isHeader: true,
    cell: ({ name, url }) => [
      viewLink(hashOf('gateway', { name }), name),
      url !== null && !url.endsWith(`//${name}`) && element('small', {}, url),
    ],
  },
  { title: 'State', cell: ({ state, phase }) => stateBadge(state, phase) },
  {
    title: 'Digest',
    cell: (row) => [
      digestOf(row),
      row.wanted !== null &&
        row.wanted !== row.digest &&
        element('small', {}, 'wanted ', code(shortDigest(row.wanted))),
    ],
  },
  {
    title: 'Lag',
    cell: ({ lag, rejected }) => [
      lagText(lag),
      rejected > 0 && element('small', {}, `${rejected} rejected`),
    ],
  },
  { title: 'Documents', cell: ({ documents }) => documents },
  { title: 'Realms', cell: ({ realms }) => realms },
  { title: 'Version', cell: ({ version }) => version },
  { title: 'Message', className: 'wide', cell: ({ message }) => message },
]

/** @param {GatewayRow} row */
const digestOf = ({ digest }) => (digest === null ? 'unknown' : code(shortDigest(digest)))

/**
 * @param {ViewDeps} deps
 * @returns {View}
 */
export const gatewayView = ({ parameters, read }) => {
  const name = parameters.get('name') ?? ''
  const content = element('div', {})
  return {
    title: name,
    content: element(
      'section',
      {},
      element('p', {}, viewLink(hashOf('gateways'), 'All gateways')),
      element('h2', {}, name),
      content,
    ),
    load: async () => {
      fill(content, ...detail(await read('/overview/gateway', { name })))
    },
  }
}

/** @param {GatewayDetail} detail */
const detail = ({ gateway, differences, moreDifferences }) => [
  definitions([
    ['State', stateBadge(gateway.state, gateway.phase)],
    ['Message', gateway.message],
    ['Address', gateway.url],
    ['Version', gateway.version],
    ['Documents', String(gateway.documents)],
    ['Realms', String(gateway.realms)],
    ['Lag', lagText(gateway.lag)],
    ['Rejected', String(gateway.rejected)],
    ['Digest', gateway.digest === null ? null : code(gateway.digest)],
    ['Wanted', gateway.wanted === null ? null : code(gateway.wanted)],
    ['Failures', viewLink(hashOf('failures', { gateway: gateway.name }), 'of this gateway')],
    ['Routes', viewLink(hashOf('routes', { gateway: gateway.name }), 'of this gateway')],
  ]),
  differences.length > 0 && element('h3', {}, 'What differs'),
  differences.length > 0 && table('Differences', DIFFERENCE_COLUMNS, differences),
  moreDifferences > 0 && element('p', {}, `${moreDifferences} more are not listed.`),
]

/** @type {readonly Column<DifferenceRow>[]} */
const DIFFERENCE_COLUMNS = [
  {
    title: 'Entry',
    isHeader: true,
    cell: ({ kind, key }) => [key, element('small', {}, kind)],
  },
  { title: 'Holds', cell: ({ held }) => code(shortDigest(held)) },
  { title: 'Should hold', cell: ({ wanted }) => code(shortDigest(wanted)) },
  { title: 'Rejected because', className: 'wide', cell: ({ rejection }) => rejection },
]
