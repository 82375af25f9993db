// One part of the report: tables, targets and remarks in, Markdown out. Pure; the terminal shows the same.

import type { Comparison, Summary } from './statistics.ts'

export interface Section {
  readonly title: string
  /** How it was measured. */
  readonly method: string
  readonly tables: readonly Table[]
  readonly targets: readonly Target[]
  /** What a reader must know to validate the numbers: what is missing, what was not quiet. */
  readonly remarks: readonly string[]
}

export interface Table {
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

export interface Target {
  readonly what: string
  readonly target: string
  readonly measured: string
  /** undefined: it could not be measured. */
  readonly isReached: boolean | undefined
}

export const renderSection = ({ title, method, tables, targets, remarks }: Section): string =>
  [
    `## ${title}`,
    method,
    ...tables.map(renderTable),
    ...(targets.length === 0 ? [] : [renderTable(targetTable(targets))]),
    ...(remarks.length === 0 ? [] : [remarks.map((remark) => `- ${remark}`).join('\n')]),
  ].join('\n\n')

/** First column to the left, the others to the right, as wide as they need to be. */
export const renderTable = ({ head, rows }: Table): string => {
  const widths = head.map((name, column) =>
    Math.max(3, name.length, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  const line = (cells: readonly string[]): string =>
    `| ${widths
      .map((width, column) => {
        const cell = cells[column] ?? ''
        return column === 0 ? cell.padEnd(width) : cell.padStart(width)
      })
      .join(' | ')} |`
  const rule = widths.map((width, column) =>
    column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  )
  return [line(head), line(rule), ...rows.map(line)].join('\n')
}

const targetTable = (targets: readonly Target[]): Table => ({
  head: ['target', 'wanted', 'measured', 'reached'],
  rows: targets.map(({ what, target, measured, isReached }) => [
    what,
    target,
    measured,
    isReached === undefined ? MISSING : isReached ? 'yes' : 'no',
  ]),
})

const MISSING = '–'

/** Thousands apart; a dash for what is not known. */
export const whole = (value: number): string =>
  Number.isFinite(value) ? Math.round(value).toLocaleString('en-US') : MISSING

export const fixed = (value: number, digits: number): string =>
  Number.isFinite(value) ? value.toFixed(digits) : MISSING

const percent = (share: number): string =>
  Number.isFinite(share) ? `${(share * 100).toFixed(1)} %` : MISSING

interface Bound {
  readonly bound: number
  readonly measured: number
  readonly unit?: string
  readonly digits?: number
}

export const atLeast = (what: string, target: Bound): Target =>
  toTarget(what, '≥', target, target.measured >= target.bound)

export const atMost = (what: string, target: Bound): Target =>
  toTarget(what, '≤', target, target.measured <= target.bound)

const toTarget = (
  what: string,
  sign: string,
  { bound, measured, unit = '', digits = 2 }: Bound,
  isReached: boolean,
): Target => ({
  what,
  target: `${sign} ${String(bound)}${unit}`,
  measured: Number.isFinite(measured) ? `${fixed(measured, digits)}${unit}` : MISSING,
  isReached: Number.isFinite(measured) ? isReached : undefined,
})

/**
 * The ratio of CPU time per request: where load generator and upstream are the bottleneck, requests/s say little. Nothing
 * when one of the two was not measured.
 */
export const ratioAtLeast = (
  { ratio }: Comparison,
  of: string,
  to: string,
  bound: number,
): readonly Target[] => {
  const { cpu } = ratio(of, to)
  return Number.isFinite(cpu)
    ? [atLeast(`${of} ÷ ${to}`, { bound, measured: cpu, unit: ' ×' })]
    : []
}

/**
 * A row for each server of a comparison.
 * @param what is counted
 */
export const comparisonTable = (
  { summaries }: Comparison,
  extra: Readonly<Record<string, (summary: Summary) => string>> = {},
  what = 'request',
): Table => ({
  head: ['', `${what}s/s`, '×', `CPU µs/${what}`, 'CPU ×', ...Object.keys(extra)],
  rows: summaries.map((summary) => [
    summary.name,
    whole(summary.perSecond),
    fixed(summary.ratio.perSecond, 2),
    fixed(summary.cpuMicros, 1),
    fixed(summary.ratio.cpu, 2),
    ...Object.values(extra).map((cell) => cell(summary)),
  ]),
})

const MAX_DRIFT = 0.05

/** The A/A control, and what went wrong on the way. */
export const comparisonRemarks = ({ summaries, drift }: Comparison): readonly string[] => {
  const [reference] = summaries
  const isQuiet = !(drift.perSecond > MAX_DRIFT || drift.cpu > MAX_DRIFT)
  const differs = `${percent(drift.perSecond)} in requests/s, ${percent(drift.cpu)} in CPU`
  return [
    `A/A control: ${reference?.name ?? ''} differs from itself by ${differs}. ${
      isQuiet
        ? 'The ratios hold.'
        : 'That is more than 5 %: the machine was not quiet, the ratios are not to be relied on.'
    }`,
    ...summaries
      .filter(({ socketErrors }) => socketErrors > 0)
      .map(
        ({ name, socketErrors }) =>
          `${name}: ${whole(socketErrors)} connections failed or timed out.`,
      ),
  ]
}
