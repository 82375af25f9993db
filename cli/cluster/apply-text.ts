// Writes what has become of applied objects, for a terminal and as a record. Pure.

import { plainText } from '../../operator/fleet/client/plain-text.ts'
import type { Change } from '../diff/compare.ts'
import { changesRecord } from '../diff/difference-text.ts'
import type { Applied, ApplyResult } from './apply-objects.ts'
import type { Served } from './wait-until-served.ts'

export interface ApplyReport {
  readonly applied: readonly Applied[]
  /** What serves of the objects that were waited for. */
  readonly served?: ReadonlyMap<Applied, Served>
  /** What a dry run would change. */
  readonly changes?: readonly Change[]
}

/** @example 'ApiSpecification shop/orders created (dry run)\n' */
export const appliedLines = (applied: readonly Applied[], ending: string): string =>
  applied
    .filter(({ applyResult: { result } }) => result !== 'failed')
    .map(
      ({ title, applyResult }) =>
        `${title} ${WORDS[applyResult.result]}${uncheckedWords(applyResult)}${ending}\n`,
    )
    .join('')

const WORDS = {
  created: 'created',
  configured: 'configured',
  unchanged: 'unchanged',
  failed: 'failed',
  'not tried': 'not applied, as another object failed',
} as const satisfies Record<ApplyResult['result'], string>

const uncheckedWords = (applyResult: ApplyResult): string =>
  'isUnchecked' in applyResult && applyResult.isUnchecked
    ? ', not checked by the cluster as its namespace is new'
    : ''

const MAX_LINE = 1000

/** What the API server and admission say beside a success. */
export const warningLines = (applied: readonly Applied[]): readonly string[] =>
  applied.flatMap(({ title, applyResult }) =>
    'warnings' in applyResult
      ? applyResult.warnings.map((text) => `warning: ${title}: ${plainText(text, MAX_LINE)}`)
      : [],
  )

/** How each stands that was waited for, with the place of what is wrong. */
export const servedText = ({ served = new Map<Applied, Served>() }: ApplyReport): string =>
  [...served].map(([object, each]) => servedLines(object, each).join('')).join('')

const servedLines = ({ title, kind, placeOf }: Applied, served: Served): readonly string[] => {
  if (served.served) {
    const words = kind === 'Realm' ? 'is ready' : `is served by ${served.gateways ?? '?'} gateways`
    return [`${title} ${words}\n`]
  }
  const { reason, message, errors } = served
  if (errors.length === 0)
    return [`${title} is not served: ${reason}: ${plainText(message, MAX_LINE)}\n`]
  return [
    `${title} is not served: ${reason}\n`,
    ...errors.map(
      ({ path, message: words }) =>
        `  ${placeOf(path)} ${plainText(path, MAX_LINE)} ${plainText(words, MAX_LINE)}\n`,
    ),
  ]
}

/** @example '2 created, 0 configured, 1 unchanged; 3 served' */
export const applySummary = ({ applied, served }: ApplyReport): string => {
  const of = (wanted: ApplyResult['result']): number =>
    applied.filter(({ applyResult }) => applyResult.result === wanted).length
  const counts = `${of('created')} created, ${of('configured')} configured, ${of('unchanged')} unchanged`
  const left = of('failed') + of('not tried')
  const failures = left === 0 ? '' : `, ${of('failed')} failed, ${of('not tried')} not tried`
  if (served === undefined) return `${counts}${failures}`
  const all = [...served.values()]
  const good = all.filter((each) => each.served).length
  return `${counts}${failures}; ${good} of ${all.length} served`
}

export const applyRecord = ({ applied, served, changes }: ApplyReport): string =>
  `${JSON.stringify(
    {
      objects: applied.map((object) => ({
        kind: object.kind,
        namespace: object.name.namespace,
        name: object.name.name,
        ...resultRecord(object.applyResult),
        ...servedRecord(object, served?.get(object)),
      })),
      ...(changes && changesRecord(changes)),
    },
    null,
    2,
  )}\n`

const resultRecord = (applyResult: ApplyResult): object =>
  applyResult.result === 'failed'
    ? {
        result: applyResult.result,
        message: applyResult.error.message,
        causes: applyResult.error.causes,
      }
    : {
        result: applyResult.result,
        ...('warnings' in applyResult && { warnings: applyResult.warnings }),
      }

const servedRecord = ({ placeOf }: Applied, served: Served | undefined): object => {
  if (served === undefined) return {}
  if (served.served) return { served: true, gateways: served.gateways }
  const { reason, message, errors } = served
  return {
    served: false,
    reason,
    message,
    errors: errors.map((error) => ({ ...error, at: placeOf(error.path) })),
  }
}
