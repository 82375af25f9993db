// Defines what a command of `svc` is: a table of settings, examples for its help, and what it does.

import { readFileSync } from 'node:fs'
import { parseSettings } from '../telemetry/settings.ts'
import type { Settings } from '../telemetry/settings-table.ts'
import type { CommandTable } from './command-table.ts'
import { renderHelpOfCommand } from './help.ts'

/** What a command may use of the process that it runs in. */
export interface CommandIo {
  readonly readStdin: () => Promise<string>
  /** To stdout: results, nothing else, so that they can be piped. */
  readonly print: (text: string) => void
  /** To stderr: counts, hints and failures, each one line with its line feed. Line feeds within it become blanks. */
  readonly complain: (text: string) => void
  readonly env: Readonly<Record<string, string | undefined>>
  /** Stdout is a terminal, and NO_COLOR (no-color.org) is not set. */
  readonly isColoured: boolean
}

/**
 * 0: as wished. 1: it works, and the result is negative. 2: it could not be done. 3: of a difference, security is loosened; of
 * an import, something is left out.
 * 4: it was done in part.
 */
export type ExitCode = 0 | 1 | 2 | 3 | 4

/** What a command gets to run with. */
export interface CommandContext extends CommandIo {
  /** Complains in the name of the command: it could not be done. */
  readonly fail: (words: string) => 2
}

export interface Command {
  readonly table: CommandTable
  /** @param argv what follows the name of the command */
  readonly run: (argv: readonly string[], io: CommandIo) => Promise<ExitCode>
}

/** A command that is loaded when it is run. */
export interface CommandEntry {
  /** For the overview: what it does, in a few words. */
  readonly summary: string
  readonly load: () => Promise<Command>
}

/** The settings of a command with its operands, all of them well-formed. */
export interface CommandInput<T extends CommandTable> {
  readonly settings: Settings<T>
  readonly operands: readonly string[]
  /** Values of the flag that may be repeated, where the command has one. */
  readonly repeated: readonly string[]
  /** Names of the settings that were given. */
  readonly given: ReadonlySet<string>
}

/**
 * @param run called with settings that are valid; help and faults of the command line are answered here
 * @example defineCommand({ program: 'svc version', … }, (_, { print }) => { print('1.0.0\n'); return 0 })
 */
export const defineCommand = <const T extends CommandTable>(
  table: T,
  run: (input: CommandInput<T>, io: CommandContext) => ExitCode | Promise<ExitCode>,
): Command => ({
  table,
  run: async (argv, io) => {
    const fail = (words: string): 2 => {
      io.complain(`${table.program}: ${words}\n`)
      return 2
    }
    const parsed = parseSettings(table, argv, io.env, (path) => readFileSync(path, 'utf8'))
    switch (parsed.kind) {
      case 'error':
        return fail(parsed.message)
      case 'help':
      case 'help all':
      case 'version':
        io.print(renderHelpOfCommand(table))
        return 0
      case 'settings':
        return await run(parsed, { ...io, fail })
    }
  },
})
