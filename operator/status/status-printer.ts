// Prints one status after another: as a live table on a terminal, as a line for each change elsewhere.

import type { OperatorStatus } from '../controller/controller.ts'
import type { Locate } from '../resource/resource-source.ts'
import { renderProblems, renderResource, renderTable } from './status-rows.ts'

export interface Output {
  readonly isTerminal: boolean
  /** Empties the screen; on a terminal alone. */
  clear(): void
  write(text: string): void
}

export type StatusPrinter = (status: OperatorStatus) => void

/** Nothing is printed before the resources have been read once. */
export const createStatusPrinter = (
  output: Output,
  now: () => number,
  locate?: Locate,
): StatusPrinter =>
  output.isTerminal ? tablePrinter(output, now, locate) : linePrinter(output, locate)

const tablePrinter = (
  output: Output,
  now: () => number,
  locate: Locate | undefined,
): StatusPrinter => {
  let shown = ''
  return (status) => {
    const table = renderTable(status, now(), locate)
    if (!status.isReady || table === shown) return
    shown = table
    output.clear()
    output.write(table)
  }
}

const linePrinter = (output: Output, locate: Locate | undefined): StatusPrinter => {
  let resources = new Map<string, string>()
  let problems: ReadonlySet<string> = new Set()
  return (status) => {
    if (!status.isReady) return
    const lines: string[] = []
    const next = new Map([...status.resources].map(([key, each]) => [key, renderResource(each)]))
    for (const [key, line] of next) if (resources.get(key) !== line) lines.push(line)
    for (const [key] of resources) if (!next.has(key)) lines.push(`${key.replace('/', ' ')}  gone`)
    const nextProblems = new Set(renderProblems(status, locate))
    lines.push(
      ...[...nextProblems].filter((line) => !problems.has(line)).map((line) => `  ${line}`),
    )
    resources = next
    problems = nextProblems
    if (lines.length > 0) output.write(`${lines.join('\n')}\n`)
  }
}
