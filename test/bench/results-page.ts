// Writes what a benchmark has measured into its section of docs/benchmarks.md: when and where, and each figure beside its
// target. The tables that it comes from are in the whole report.

import { readFileSync, writeFileSync } from 'node:fs'
import { describeCommit, type Plane } from './machine.ts'
import { renderSection, type Section, type Target } from './section.ts'

const RESULTS_PAGE = 'docs/benchmarks.md'

/** The headings of the page. */
export type BenchmarkTitle = 'Gateway' | 'Operator' | 'Routes'

export interface Report {
  readonly title: BenchmarkTitle
  /** When and where it was measured. */
  readonly facts: readonly string[]
  readonly sections: readonly Section[]
  /** What could not be measured here. */
  readonly missing?: readonly string[]
}

/** Where a run writes its report, besides the terminal. */
export interface Destination {
  /** For all tables. */
  readonly file: string | undefined
  /** A run of everything also replaces its section of the page. */
  readonly isWhole: boolean
}

/** The day, the commit that was measured, and how long it took. */
export const describeRun = (startedMs: number, ...planes: readonly Plane[]): string => {
  const commit = describeCommit(...planes)
  const minutes = ((performance.now() - startedMs) / 60_000).toFixed(1)
  return `${new Date().toISOString().slice(0, 10)}${commit === '' ? '' : `, commit ${commit}`}, in ${minutes} minutes`
}

export const writeReport = (report: Report, { file, isWhole }: Destination): void => {
  if (file !== undefined) writeFileSync(file, `${renderReport(report)}\n`)
  if (isWhole)
    writeFileSync(RESULTS_PAGE, replaceResults(readFileSync(RESULTS_PAGE, 'utf8'), report))
}

/** Everything, as the terminal shows it. */
export const renderReport = ({ title, facts, sections, missing = [] }: Report): string =>
  [
    `# ${title}`,
    facts.map((fact) => `- ${fact}`).join('\n'),
    ...sections.map(renderSection),
    ...missing,
  ].join('\n\n')

/**
 * The page with another section of that title, at its place.
 * @throws Error for a page without it
 */
export const replaceResults = (page: string, report: Report): string => {
  const section = new RegExp(`^## ${report.title}\n.*?(?=^## |$(?![^]))`, 'ms')
  if (!section.test(page)) throw new Error(`${RESULTS_PAGE} has no section '${report.title}'`)
  return page
    .replace(section, () => `${renderResults(report)}\n\n`)
    .trimEnd()
    .concat('\n')
}

const renderResults = ({ title, facts, sections }: Report): string =>
  [
    `## ${title}`,
    `${facts.join('. ')}.`,
    sections
      .filter(({ targets }) => targets.length > 0)
      .map((each) => `- **${each.title}**: ${each.targets.map(renderTarget).join('; ')}`)
      .join('\n'),
  ].join('\n\n')

const renderTarget = ({ what, target, measured, isReached }: Target): string =>
  `${what} ${isReached === false ? `**${close(measured)}**` : close(measured)} (${close(target)})`

/** `≥ 0.9 ×` as `≥0.9×`, which a line does not break. */
const close = (text: string): string => text.replaceAll(/(?<=[≤≥]) | (?=[×%])/g, '')
