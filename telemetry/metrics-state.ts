// Represents metrics at one moment as plain data: to send them between processes, add them up and render them as text.
// Knows no metric by name.

import { hash } from 'node:crypto'

/** How the values of several processes become one. */
export type Merge = 'sum' | 'max' | 'min' | 'first'

interface FamilyHead {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary'
}

export interface FamilyState extends FamilyHead {
  readonly merge: Merge
  /** Series of a counter that were not used for long may be dropped, in each process at another time. */
  readonly isForgetful?: boolean
  /** Whole series as they are exposed, `name{label="value"}`, each with the value of the same index. */
  readonly series: readonly string[]
  readonly values: readonly number[]
}

/** A whole series as it is exposed, `name{label="value"}`, and its value. */
export type Sample = readonly [series: string, value: number]

/** Has too many series to name them all in one turn: they are named while they are rendered. No process sends it. */
export interface LazyFamily extends FamilyHead {
  /** As they were when the family was read, however late they are asked for. */
  readonly samples: () => Iterable<Sample>
}

export type Family = FamilyState | LazyFamily

/** Survives `structuredClone`, so it can be sent from a worker to its primary. */
export type MetricsState = readonly FamilyState[]

/** Content type of `renderMetrics`: the Prometheus text format. */
export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** One state for several processes: equal series are merged as their family says. */
export const mergeStates = (states: readonly MetricsState[]): MetricsState => {
  const families = new Map<string, { family: FamilyState; merged: Map<string, number> }>()
  for (const family of states.flat()) {
    const known = families.get(family.name)
    const merged = known?.merged ?? new Map<string, number>()
    if (known === undefined) families.set(family.name, { family, merged })
    const combine = COMBINE[family.merge]
    family.series.forEach((series, index) => {
      const value = family.values[index] ?? 0
      const before = merged.get(series)
      merged.set(series, before === undefined ? value : combine(before, value))
    })
  }
  return Array.from(families.values(), ({ family, merged }) => ({
    ...family,
    series: [...merged.keys()],
    values: [...merged.values()],
  }))
}

/**
 * The series that one process has dropped: to be added up, as totals must not go back while another process goes on
 * counting.
 */
export const forgottenSeries = (before: MetricsState, after: MetricsState): MetricsState => {
  const left = new Map(after.map(({ name, series }) => [name, new Set(series)]))
  return before.flatMap((family) =>
    family.isForgetful === true
      ? [where(family, (series) => !left.get(family.name)?.has(series))]
      : [],
  )
}

/**
 * Removes the series that no process counts any more, of families that may drop series: `of` is what was dropped so
 * far.
 */
export const withoutAbandoned = (
  of: MetricsState,
  processes: readonly MetricsState[],
): MetricsState => {
  const counted = new Set(
    processes.flat().flatMap(({ isForgetful, series }) => (isForgetful === true ? series : [])),
  )
  return of.map((family) =>
    family.isForgetful === true ? where(family, (series) => counted.has(series)) : family,
  )
}

const where = (family: FamilyState, isWanted: (series: string) => boolean): FamilyState => {
  const wanted = family.series.map(isWanted)
  return {
    ...family,
    series: family.series.filter((_, index) => wanted[index]),
    values: family.values.filter((_, index) => wanted[index]),
  }
}

/** The text of a response to `GET /metrics`. */
export const renderMetrics = (families: Iterable<Family>): string =>
  [...renderInPieces(families)].join('')

const SAMPLES_PER_PIECE = 250

/**
 * The same text in pieces that take less than a millisecond each: with 20,000 series all
 * of it takes 20 to 60 ms, for which requests would wait.
 */
export function* renderInPieces(families: Iterable<Family>): Generator<string, void> {
  let piece = ''
  let samples = 0
  for (const family of families) {
    let head = headOf(family)
    for (const [series, value] of samplesOf(family)) {
      piece += `${head}${series} ${renderNumber(value)}\n`
      head = ''
      samples += 1
      if (samples % SAMPLES_PER_PIECE !== 0) continue
      yield piece
      piece = ''
    }
  }
  if (piece !== '') yield piece
}

const samplesOf = (family: Family): Iterable<Sample> =>
  'samples' in family
    ? family.samples()
    : family.series.map((series, index): Sample => [series, family.values[index] ?? 0])

const headOf = ({ name, help, type }: FamilyHead): string =>
  `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`

/**
 * The name of a series. Label values of more than 256 characters are cut, and end with a hash of the whole.
 * @example seriesOf('requests', { api: 'a"b' }) // 'requests{api="a\\"b"}'
 */
export const seriesOf = (
  name: string,
  labels: Readonly<Record<string, string | number>>,
): string => {
  const text = labelText(labels)
  return text === '' ? name : `${name}{${text}}`
}

/** `api="a",version="v1"`, to stand between the braces of a series. */
export const labelText = (labels: Readonly<Record<string, string | number>>): string =>
  Object.entries(labels)
    .map(([label, value]) => `${label}="${escapeLabel(String(value))}"`)
    .join(',')

const MAX_LABEL = 256

const COMBINE = {
  sum: (a, b) => a + b,
  max: Math.max,
  min: Math.min,
  first: (a) => a,
} satisfies Record<Merge, (before: number, value: number) => number>

/** A scraper would drop the second series of two values with one beginning, or reject them all. */
const shorten = (value: string): string => {
  const end = `…${hash('sha256', value).slice(0, 16)}`
  return `${value.slice(0, MAX_LABEL - end.length)}${end}`
}

const escapeLabel = (value: string): string => {
  const bounded = value.length > MAX_LABEL ? shorten(value) : value
  return bounded.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

const escapeHelp = (help: string): string => help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')

const renderNumber = (value: number): string => {
  if (value === Infinity) return '+Inf'
  return value === -Infinity ? '-Inf' : String(value)
}
