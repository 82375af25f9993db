// Writes changes for a terminal, for GitHub and as a record, one line for each, and decides the exit code that they stand
// for. Pure.

import { corsText } from '../../language/explain/explain-cors.ts'
import { securityText } from '../../language/explain/list-routes.ts'
import { isMap, type Value } from '../../language/expression/value.ts'
import { printableLine } from '../../telemetry/printable.ts'
import type { ExitCode } from '../command.ts'
import { workflowCommand } from '../formats/github.ts'
import type { Change, Difference } from './compare.ts'
import type { Effect } from './entry.ts'

/** @example 'loosened  ~ GET api.acme.com/orders  security basic → none\n' */
export const changesText = (changes: readonly Change[]): string =>
  linesOf(changes)
    .map(({ effects, words }) => `${effects.join(', ').padEnd(EFFECT_WIDTH)} ${words}\n`)
    .join('')

const EFFECT_WIDTH = 'may break'.length

export const changesRecord = (changes: readonly Change[]): object => ({
  changes: changes.map(({ type, kind, name, at, effects, differences }) => ({
    type,
    kind,
    name,
    at,
    effects,
    differences,
  })),
})

/** As annotations of a pull request, at the place in the files. */
export const changesForGitHub = (changes: readonly Change[]): string =>
  linesOf(changes)
    .map(({ effects, words, at }) => {
      const [, file = '', line = '1', column = '1'] = /^(.*):(\d+):(\d+)$/s.exec(at) ?? []
      const place = { file, line: Number(line), column: Number(column) }
      const isError = effects.includes('loosened') || effects.includes('breaking')
      const level = isError ? 'error' : effects.includes('may break') ? 'warning' : 'notice'
      return `${workflowCommand(level, { ...place, title: effects.join(', ') }, words)}\n`
    })
    .join('')

/** None, some, some that loosen security, or some that break or may break a caller. What loosens security comes first. */
export const differenceExitCode = (changes: readonly Change[]): ExitCode => {
  const effects = new Set(changes.flatMap((change) => change.effects))
  if (effects.has('loosened')) return 3
  if (effects.has('breaking') || effects.has('may break')) return 4
  return changes.length > 0 ? 1 : 0
}

const EFFECTS: readonly Effect[] = ['loosened', 'breaking', 'may break', 'changed']

/**
 * @param leftOut how many documents could not be compared
 * @example '3 differences: 1 loosened, 2 breaking'
 */
export const changesSummary = (changes: readonly Change[], leftOut = 0): string => {
  const lines = linesOf(changes)
  if (lines.length === 0) return leftOut > 0 ? 'no difference in the rest' : 'no difference'
  const counts = EFFECTS.flatMap((effect) => {
    const count = lines.filter(({ effects }) => effects.includes(effect)).length
    return count === 0 ? [] : [`${count} ${effect}`]
  })
  return `${lines.length} ${lines.length === 1 ? 'difference' : 'differences'}: ${counts.join(', ')}`
}

interface Line {
  readonly effects: readonly Effect[]
  readonly words: string
  readonly at: string
}

const SIGNS = { added: '+', removed: '-', changed: '~' } as const satisfies Record<
  Change['type'],
  string
>

/** One for what comes or goes, and one for each difference of what stays. */
const linesOf = (changes: readonly Change[]): readonly Line[] =>
  changes.flatMap(({ type, name, at, effects, summary, differences }) => {
    const line = (own: readonly Effect[], words: string): Line => ({
      effects: EFFECTS.filter((effect) => own.includes(effect)),
      words: printableLine(`${SIGNS[type]} ${name}${words === '' ? '' : `  ${words}`}`),
      at,
    })
    return type === 'changed'
      ? differences.map((each) => line(each.effects, wordsOf(each)))
      : [line(effects, summary)]
  })

const wordsOf = (difference: Difference): string => {
  const { what, before, after, isHidden } = difference
  if (isHidden) return `${what} (hidden) has changed`
  const [left = '', right = ''] = [before, after].map((value) => wordOf(what, value))
  return left === right
    ? `${what} ${excerpts(plain(before), plain(after))}`
    : `${what} ${excerpts(left, right)}`
}

const wordOf = (what: string, value: Value | undefined): string => {
  if (value === undefined) return 'unset'
  if (what === 'security' && isMap(value)) return securityText(value)
  if (what === 'cors') return corsText(value) ?? plain(value)
  return typeof value === 'string' ? value : plain(value)
}

const plain = (value: Value | undefined): string =>
  value === undefined ? 'unset' : JSON.stringify(value)

const MAX_WORDS = 120
const KEPT_BEFORE = 30

/** Long texts from where they begin to differ. */
const excerpts = (before: string, after: string): string => {
  let same = 0
  while (same < before.length && before[same] === after[same]) same++
  const isLong = Math.max(before.length, after.length) > MAX_WORDS
  const from = isLong ? Math.max(0, same - KEPT_BEFORE) : 0
  const cut = (text: string): string =>
    `${from > 0 ? '…' : ''}${text.slice(from, from + MAX_WORDS).toWellFormed()}${text.length > from + MAX_WORDS ? '…' : ''}`
  return `${cut(before)} → ${cut(after)}`
}
