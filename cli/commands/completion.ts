// Prints the script by which a shell completes the commands and settings of `svc`.

import { type Command, type CommandEntry, defineCommand } from '../command.ts'
import { type CompletionWords, scriptFor, SHELLS } from '../completion-scripts.ts'

type Commands = Readonly<Record<string, CommandEntry>>

/** @param commands all of them, this one too */
export const createCompletion = (commands: () => Commands): Command =>
  defineCommand(
    {
      program: 'svc completion',
      summary: 'prints the completion script of a shell',
      operands: SHELLS.join('|'),
      envPrefix: 'SVC_COMPLETION_',
      settings: {},
      examples: [
        ['source <(svc completion bash)', 'in ~/.bashrc'],
        ['svc completion zsh > "${fpath[1]}/_svc"', 'once, for zsh'],
        ['svc completion fish > ~/.config/fish/completions/svc.fish', 'once, for fish'],
      ],
    },
    async ({ operands }, { print, complain }) => {
      const shell = SHELLS.find((each) => each === operands[0])
      if (shell === undefined || operands.length > 1) {
        complain(`svc completion: name a shell: ${SHELLS.join(', ')}\n`)
        return 2
      }
      print(scriptFor(shell, await collectWords(commands())))
      return 0
    },
  )

const collectWords = async (commands: Commands): Promise<readonly CompletionWords[]> =>
  await Promise.all(
    Object.entries(commands).map(async ([name, { summary, load }]) => {
      const { table } = await load()
      const flags = Object.entries(table.settings).map(([flag, setting]) => ({
        flag: `--${setting.type === 'boolean' && setting.default ? 'no-' : ''}${flag}`,
        short: setting.short === undefined ? [] : [`-${setting.short}`],
        values: setting.type === 'enum' ? setting.values : [],
        takesFile: setting.type === 'path',
      }))
      return { name, summary, flags }
    }),
  )
