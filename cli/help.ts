// Renders what `svc --help` and `svc COMMAND --help` print. Each fits on one screen of 24 lines, which a test checks.

import { renderSettingRows } from '../telemetry/settings-help.ts'
import type { CommandTable } from './command-table.ts'

/** @param summaries by the name of the command, in the order of the list */
export const renderOverview = (summaries: ReadonlyMap<string, string>): string =>
  [
    'svc: validates, explains and applies API documents',
    '',
    'Usage: svc COMMAND [settings]',
    '',
    ...[...summaries].map(([name, summary]) => `  ${name.padEnd(15)}${summary}`),
    '',
    'svc COMMAND --help has the settings of a command, and examples.',
    '',
  ].join('\n')

export const renderCommandHelp = (table: CommandTable): string => {
  const { program, summary, operands, examples } = table
  const rows = renderSettingRows(table)
  return [
    `${program}: ${summary}`,
    '',
    `Usage: ${[program, operands, rows.length > 0 && '[settings]'].filter(Boolean).join(' ')}`,
    ...(rows.length === 0 ? [] : ['', ...rows]),
    '',
    'Examples:',
    ...examples.flatMap(([line, what]) => [`  ${line}`, `      ${what}`]),
    '',
  ].join('\n')
}
