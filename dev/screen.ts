// Renders the text that greets the user of the playground, with what it runs and the examples it found. Pure.

import type { ManifestTries } from './manifest-tries.ts'
import type { Playground } from './playground.ts'
import { isReady, type StatusView } from './status-view.ts'

export interface Greeting {
  readonly urls: Playground['urls']
  /** As a person would type it. */
  readonly manifests: string
  readonly isCopy: boolean
  readonly examples: readonly (ManifestTries & { readonly file: string })[]
  readonly status: StatusView
  /** Usual ports that were not free. */
  readonly taken: readonly number[]
}

export const renderGreeting = (greeting: Greeting): string =>
  [
    renderExamples(greeting),
    renderAddresses(greeting),
    renderFaults(greeting.status),
    renderIdeas(greeting),
  ]
    .filter((part) => part !== '')
    .join('\n\n')

const renderExamples = ({ examples, manifests }: Greeting): string =>
  examples
    .filter(({ tries }) => tries.length > 0)
    .map(({ file, title, tries, pages }) =>
      [
        `${manifests}/${file}: ${title}`,
        ...pages.map((page) => `  in a browser: ${page}`),
        ...tries.map(({ command }) => `  ${command}`),
      ].join('\n'),
    )
    .join('\n\n')

const renderAddresses = ({ urls, manifests, isCopy, taken, status }: Greeting): string => {
  const documents = status.resources.filter(({ kind }) => kind === 'ApiSpecification')
  const ready = documents.filter(isReady).length
  const rows = [
    ['clients', urls.public, `${ready} of ${documents.length} documents are served here`],
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
          '',
        ]
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => (row[column] ?? '').length)))
  const lines = rows.map(
    (row) => `  ${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ')}`,
  )
  return [...moved, 'The playground runs:', ...lines.map((line) => line.trimEnd())].join('\n')
}

const COPIED = 'a copy of examples/ with these ports in it; removed at the end'

const renderFaults = ({ resources, notes }: StatusView): string => {
  const lines = [
    ...notes.map(({ message }) => `  ${message}`),
    ...resources
      .filter((resource) => !isReady(resource))
      .map(({ kind, name, conditions }) => {
        const ready = conditions.find(({ type }) => type === 'Ready')
        return `  ${kind} ${name}: ${ready?.reason ?? ''} ${ready?.message ?? ''}`
      }),
  ]
  return lines.length === 0 ? '' : ['Not served, or with warnings:', ...lines].join('\n')
}

const renderIdeas = ({ urls, manifests }: Greeting): string =>
  [
    'What to try:',
    '  1. Send one of the requests above. -i shows the headers too.',
    `  2. Change "Hello" in ${manifests}/01-static.yaml, save, and send its request again.`,
    `  3. Break it: write "type: statik" there. The problem appears below with file and pointer, and`,
    '     the last good version stays in service. Fix it, and the new one is served.',
    `  4. Ask why: curl -s ${urls.status}/status`,
    '',
    'Ctrl-C stops everything. Below: what happens.',
  ].join('\n')
