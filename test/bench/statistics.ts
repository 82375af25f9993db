// Numbers in, numbers out: what a benchmark says of its repetitions.

/** NaN for none. */
export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const upper = sorted[Math.floor(sorted.length / 2)] ?? NaN
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? NaN
  return (lower + upper) / 2
}

/** `share` 0.99 is the 99th percentile by nearest rank; NaN for none. */
export const percentile = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? NaN
}

/** One measurement of a server under load. */
export interface Measured {
  readonly perSecond: number
  /** CPU time that the server spent on each request. */
  readonly cpuMicros: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Most that the server held resident while it was measured, MB. */
  readonly peakRssMegabytes: number
  /** Connections that were refused or broke, reads and writes that failed or took too long. */
  readonly socketErrors: number
}

export interface Run {
  readonly name: string
  readonly measured: Measured
}

/** In the order of measuring: the reference, the others, the reference again. */
export type Repetition = readonly Run[]

/** Above 1: better than what it is compared with. */
export interface Ratio {
  readonly perSecond: number
  /** The other's CPU time per request by its own. */
  readonly cpu: number
}

export interface Summary extends Measured {
  readonly name: string
  /** To the reference. */
  readonly ratio: Ratio
}

export interface Comparison {
  /** The reference first. Medians of all repetitions; errors are added up. */
  readonly summaries: readonly Summary[]
  /** How far the reference is from itself between first and last of a repetition; 0.05 is 5 %. */
  readonly drift: Ratio & { readonly p99: number }
  /** Median of the ratios within each repetition; NaN for who was not measured. */
  readonly ratio: (of: string, to: string) => Ratio
}

/** @example summarise([[raw, gateway, raw], [raw, gateway, raw]]).ratio('gateway', 'raw').perSecond */
export const summarise = (repetitions: readonly Repetition[]): Comparison => {
  const names = [
    ...new Set(repetitions.flatMap((repetition) => repetition.map(({ name }) => name))),
  ]
  const reference = names[0] ?? ''
  const ratio = (of: string, to: string): Ratio => ({
    perSecond: median(
      repetitions.map((runs) => mean(runs, of, 'perSecond') / mean(runs, to, 'perSecond')),
    ),
    cpu: median(
      repetitions.map((runs) => mean(runs, to, 'cpuMicros') / mean(runs, of, 'cpuMicros')),
    ),
  })
  const summaryOf = (name: string): Summary => {
    const all = repetitions.flatMap((runs) => measuredOf(runs, name))
    const medianOf = (key: keyof Measured): number => median(all.map((measured) => measured[key]))
    return {
      name,
      ratio: ratio(name, reference),
      perSecond: medianOf('perSecond'),
      cpuMicros: medianOf('cpuMicros'),
      p50Ms: medianOf('p50Ms'),
      p99Ms: medianOf('p99Ms'),
      peakRssMegabytes: Math.max(...all.map(({ peakRssMegabytes }) => peakRssMegabytes)),
      socketErrors: all.reduce((total, { socketErrors }) => total + socketErrors, 0),
    }
  }
  const driftOf = (key: keyof Measured): number =>
    median(repetitions.map((runs) => driftWithin(measuredOf(runs, reference), key)))
  return {
    summaries: names.map(summaryOf),
    drift: {
      perSecond: driftOf('perSecond'),
      cpu: driftOf('cpuMicros'),
      p99: driftOf('p99Ms'),
    },
    ratio,
  }
}

const measuredOf = (runs: Repetition, name: string): readonly Measured[] =>
  runs.filter((run) => run.name === name).map(({ measured }) => measured)

/** The reference is measured twice: what happens in between happens half-way. */
const mean = (runs: Repetition, name: string, key: keyof Measured): number => {
  const values = measuredOf(runs, name).map((measured) => measured[key])
  return values.reduce((total, value) => total + value, 0) / values.length
}

const driftWithin = (measured: readonly Measured[], key: keyof Measured): number => {
  const [first, last] = [measured.at(0)?.[key] ?? NaN, measured.at(-1)?.[key] ?? NaN]
  return Math.abs(first - last) / Math.min(first, last)
}
