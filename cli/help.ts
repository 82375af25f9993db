// Renders what `svc --help` and `svc COMMAND --help` print. Each fits on one screen, which a test checks.

import { renderCommandHelp } from '../telemetry/settings-help.ts'
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
    'svc COMMAND --help has the settings of a command, and examples. -o json prints a result as data.',
    '',
  ].join('\n')

export const renderHelpOfCommand = (table: CommandTable): string =>
  renderCommandHelp({ name: table.program, ...table })
