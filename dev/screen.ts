// Renders the text that greets the user of the playground, with what it runs and the examples it found. Pure.

import type { Playground } from './playground.ts'
import type { Example } from './read-examples.ts'
import { isReady, type StatusView } from '../cli/serve/status-view.ts'

export interface Greeting {
  readonly urls: Playground['urls']
  /** As a person would type it. */
  readonly manifests: string
  readonly isCopy: boolean
  readonly examples: readonly Example[]
  readonly status: StatusView
  /** Usual ports that were not free. */
  readonly taken: readonly number[]
}

/** At most 20 lines: the addresses stay in sight. */
export const renderGreeting = (greeting: Greeting): string =>
  [renderAddresses(greeting), renderFaults(greeting), renderIdeas(greeting)]
    .filter((part) => part !== '')
    .join('\n\n')

const renderAddresses = ({ urls, manifests, isCopy, taken, status }: Greeting): string => {
  const documents = status.resources.filter(({ kind }) => kind === 'ApiSpecification')
  const ready = documents.filter(isReady).length
  const rows = [
    ['clients', urls.public, `${ready} of ${documents.length} documents are served here`],
    ['web page', urls.page, 'documents, routes, gateways, failures, and links to the examples'],
    ['management', urls.management, 'GET /api_specs, /ready, /metrics'],
    ['operator', urls.status, 'GET /status: the state of each manifest, with the reason'],
    ['backend', urls.backend, 'the service that examples forward to'],
    ['router', urls.router, 'WAMP: the procedures and topics of the realm com.example'],
    ['identities', urls.idp, 'an OpenID provider: log in as alice or bob, any password will do'],
    ['manifests', `${manifests}/`, isCopy ? COPIED : 'watched: a saved change is served at once'],
  ]
  const moved =
    taken.length === 0
      ? []
      : [
          `Taken, perhaps by another playground: ${taken.join(', ')}. All ports were moved by the same step.`,
        ]
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => (row[column] ?? '').length)))
  const lines = rows.map(
    (row) => `  ${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ')}`,
  )
  return [...moved, 'The playground runs:', ...lines.map((line) => line.trimEnd())].join('\n')
}

const COPIED = 'a copy of examples/ with these ports in it; removed at the end'

const MAX_FAULTS = 2

/** Each on one line; `/status` has all of them as a whole. */
const renderFaults = ({ status: { resources, notes }, urls }: Greeting): string => {
  const faults = [
    ...notes.map(({ message }) => message),
    ...resources
      .filter((resource) => !isReady(resource))
      .map(({ kind, name, conditions }) => {
        const ready = conditions.find(({ type }) => type === 'Ready')
        return `${kind} ${name}: ${ready?.reason ?? ''} ${ready?.message ?? ''}`
      }),
  ]
  if (faults.length === 0) return ''
  const more = faults.length - MAX_FAULTS
  const title = `Not served, or with warnings${more > 0 ? ` (${more} more: ${urls.status}/status)` : ''}:`
  return [title, ...faults.slice(0, MAX_FAULTS).map((fault) => `  ${firstLineOf(fault)}`)].join(
    '\n',
  )
}

const firstLineOf = (text: string): string => text.split(/[\r\n]/, 1)[0] ?? ''

const renderIdeas = ({ examples, manifests }: Greeting): string => {
  const first = examples.flatMap(({ tries }) => tries)[0]
  const pages = examples.flatMap((example) => example.pages)
  return [
    'What to try:',
    ...(first === undefined ? [] : [`  ${first.command}`]),
    `  More requests: in each file in ${manifests}/. Save a change there, a wrong one too: the web page says why.`,
    ...(pages.length === 0 ? [] : [`  In a browser: ${shortened(pages)}`]),
    'Ctrl-C stops everything. Below: changes, and requests that fail.',
  ].join('\n')
}

/** The first page whole, of the others what differs: the line must fit a terminal. */
const shortened = ([first = '', ...others]: readonly string[]): string => {
  const origin = URL.parse(first)?.origin ?? first
  return [first, ...others.map((page) => page.replace(origin, ''))].join(' ')
}
