// Writes how resources and gateways stand: tables for a terminal, and what is wrong below them. Pure.

import { plainText } from '../operator/fleet/client/plain-text.ts'
import { alignColumns } from '../operator/status/align-columns.ts'
import type { Diagnostic, ResourceStanding, Standing } from './standing.ts'

export const standingText = ({ resources, gateways = [] }: Standing): string => {
  const apis = resources.filter(({ kind }) => kind === 'ApiSpecification')
  const realms = resources.filter(({ kind }) => kind === 'Realm')
  const tables = [
    table(
      ['API', 'HOST', 'REALM', 'SERVING', 'GATEWAYS', 'SERVED', 'REASON'],
      apis.map((each) => [
        nameOf(each),
        each.host,
        each.realm,
        each.serving,
        each.gateways,
        yesOrNo(each.isServed),
        each.reason,
      ]),
    ),
    table(
      ['REALM', 'URI', 'READY', 'REASON'],
      realms.map((each) => [nameOf(each), each.id, yesOrNo(each.isServed), each.reason]),
    ),
    table(
      ['GATEWAY', 'STATE', 'READY', 'DOCUMENTS'],
      gateways.map(({ name, state, isReady, documents }) => [
        name,
        state,
        yesOrNo(isReady),
        String(documents),
      ]),
    ),
  ].filter((text) => text !== '')
  const problems = [
    ...resources.flatMap(problemLines),
    ...gateways.flatMap(({ name, message }) =>
      message === '' ? [] : [`gateway ${name}: ${plainText(message, MAX_LINE)}`],
    ),
  ]
  const below = problems.map((line) => `${line}\n`).join('')
  return [...tables, ...(below === '' ? [] : [below])].join('\n')
}

/** @example '3 APIs, 1 realm: 1 not served' */
export const standingSummary = ({ resources }: Standing): string => {
  const of = (wanted: ResourceStanding['kind']): number =>
    resources.filter(({ kind }) => kind === wanted).length
  const left = resources.filter(({ isServed }) => !isServed).length
  const [apis, realms] = [of('ApiSpecification'), of('Realm')]
  const counts = `${apis} ${apis === 1 ? 'API' : 'APIs'}, ${realms} ${realms === 1 ? 'realm' : 'realms'}`
  return `${counts}: ${left === 0 ? 'all served' : `${left} not served`}`
}

const MAX_LINE = 1000
const MAX_CELL = 100

const table = (headings: readonly string[], rows: readonly (readonly string[])[]): string =>
  rows.length === 0
    ? ''
    : `${alignColumns([headings, ...rows.map((row) => row.map((cell) => plainText(cell, MAX_CELL) || '-'))])}\n`

const yesOrNo = (is: boolean): string => (is ? 'yes' : 'no')

const nameOf = ({ namespace, name }: ResourceStanding): string =>
  namespace === '' ? name : `${namespace}/${name}`

const problemLines = (resource: ResourceStanding): readonly string[] => {
  const { kind, isServed, reason, message, errors, warnings } = resource
  const title = `${kind} ${nameOf(resource)}`
  const first = errors.length === 0 ? `: ${plainText(message, MAX_LINE)}` : ''
  return [
    ...(isServed ? [] : [`${title} is not served: ${reason}${first}`]),
    ...(isServed ? [] : errors.map((error) => `  ${diagnosticText(error)}`)),
    ...warnings.map((warning) => `warning: ${title} ${diagnosticText(warning)}`),
  ]
}

const diagnosticText = ({ path, message, at }: Diagnostic): string =>
  [at, plainText(path, MAX_LINE), plainText(message, MAX_LINE)]
    .filter((part) => part !== '')
    .join(' ')
