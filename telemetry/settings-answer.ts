// What parsing the settings gave in; what a program prints and ends with before it starts anything out.

import { renderHelp } from './settings-help.ts'
import type { ParsedSettings } from './settings.ts'
import type { SettingsTable } from './settings-table.ts'

export interface Answer {
  readonly stream: 'stdout' | 'stderr'
  readonly text: string
  readonly exitCode: 0 | 2
}

/** undefined: the settings are good, go on. Faults are one line on stderr and exit 2. */
export const answerTo = <T extends SettingsTable>(
  parsed: ParsedSettings<T>,
  table: T,
  version: string,
): Answer | undefined => {
  switch (parsed.kind) {
    case 'help':
      return { stream: 'stdout', text: renderHelp(table), exitCode: 0 }
    case 'version':
      return { stream: 'stdout', text: `${table.program} ${version}\n`, exitCode: 0 }
    case 'fault':
      return { stream: 'stderr', text: `${table.program}: ${parsed.message}\n`, exitCode: 2 }
    case 'settings':
      return undefined
  }
}
