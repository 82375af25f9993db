// Finds the command that a command line of `svc` names, and runs it.

import { didYouMean } from '../base/nearest-name.ts'
import { printable, printableInColour, printableMessage } from '../telemetry/printable.ts'
import type { CommandIo, ExitCode } from './command.ts'
import { COMMANDS, type CommandName, isCommandName } from './commands.ts'
import { renderOverview } from './help.ts'

/**
 * Runs one command line, without the name of the program.
 * @example await runSvc(['validate', 'apis/'], io) // 1, with what is wrong on stdout
 */
export const runSvc = async (argv: readonly string[], terminal: CommandIo): Promise<ExitCode> => {
  const io = printing(terminal)
  const [word, ...rest] = argv
  if (word === undefined) {
    terminal.complain(overview())
    return 2
  }
  if (word === 'help' && rest[0] !== undefined && isCommandName(rest[0]))
    return await runCommand(rest[0], ['--help'], io)
  if (HELP.has(word)) {
    io.print(overview())
    return 0
  }
  const name = VERSION.has(word) ? 'version' : word
  if (isCommandName(name)) return await runCommand(name, rest, io)
  const hint = didYouMean(name, Object.keys(COMMANDS)) || '; see svc --help'
  io.complain(`svc: there is no command '${name.slice(0, 80)}'${hint}\n`)
  return 2
}

/** The one place where commands write: whatever a file or a server made them say, no terminal obeys it. */
const printing = (terminal: CommandIo): CommandIo => ({
  ...terminal,
  print: (text) => {
    terminal.print(terminal.isColoured ? printableInColour(text) : printable(text))
  },
  complain: (text) => {
    terminal.complain(printableMessage(text))
  },
})

const HELP: ReadonlySet<string> = new Set(['help', '--help', '-h'])
const VERSION: ReadonlySet<string> = new Set(['--version', '-v', '-V'])

const overview = (): string =>
  renderOverview(new Map(Object.entries(COMMANDS).map(([name, { summary }]) => [name, summary])))

const runCommand = async (
  name: CommandName,
  argv: readonly string[],
  io: CommandIo,
): Promise<ExitCode> => await (await COMMANDS[name].load()).run(argv, io)
