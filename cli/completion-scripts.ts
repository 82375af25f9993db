// Writes the completion scripts of bash, zsh and fish. Names and summaries come from our own tables, so that nothing in
// them needs escaping but quotes.

export const SHELLS = ['bash', 'zsh', 'fish'] as const

export type Shell = (typeof SHELLS)[number]

export interface CompletionWords {
  /** The name of the command. */
  readonly name: string
  readonly summary: string
  readonly flags: readonly {
    /** With its dashes. */
    readonly flag: string
    /** The letter that stands for it, with its dash; empty where there is none. */
    readonly short: readonly string[]
    /** Those it may have; empty where there are others. */
    readonly values: readonly string[]
    readonly takesFile: boolean
  }[]
}

/** @example scriptFor('bash', words) // '_svc() {…' */
export const scriptFor = (shell: Shell, commands: readonly CompletionWords[]): string =>
  SCRIPTS[shell](commands)

/** Words of each command, then files, as most commands take files. */
const bash = (commands: readonly CompletionWords[]): string =>
  [
    '_svc() {',
    '  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} words',
    '  if ((COMP_CWORD == 1)); then',
    `    words='${commands.map(({ name }) => name).join(' ')} help'`,
    '  else',
    '    case "${COMP_WORDS[1]} $previous" in',
    ...commands.flatMap(({ name, flags }) =>
      flags
        .filter(({ values }) => values.length > 0)
        .map(({ flag, short, values }) => {
          const patterns = [...short, flag].map((each) => `'${name} ${each}'`).join('|')
          return `      ${patterns}) words='${values.join(' ')}' ;;`
        }),
    ),
    '      *)',
    '        case ${COMP_WORDS[1]} in',
    ...commands.map(
      ({ name, flags }) =>
        `          ${name}) words='${[...flags.flatMap(({ short, flag }) => [...short, flag]), '--help'].join(' ')}' ;;`,
    ),
    `          help) words='${commands.map(({ name }) => name).join(' ')}' ;;`,
    '        esac',
    '        [[ $current == -* || ${COMP_WORDS[1]} == help ]] || words=',
    '        ;;',
    '    esac',
    '  fi',
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    '}',
    'complete -o default -F _svc svc',
    '',
  ].join('\n')

const zsh = (commands: readonly CompletionWords[]): string =>
  [
    '#compdef svc',
    '_svc() {',
    '  local -a commands',
    '  commands=(',
    ...commands.map(({ name, summary }) => `    '${name}:${summary}'`),
    '  )',
    '  if ((CURRENT == 2)); then',
    "    _describe 'command' commands",
    '    return',
    '  fi',
    '  case $words[2] in',
    ...commands.map(({ name, flags }) => {
      const specs = flags.flatMap(({ flag, short, values, takesFile }) => {
        const value = values.length > 0 ? `:value:(${values.join(' ')})` : ''
        return [...short, flag].map(
          (each) => `'${each}[]${value || (takesFile ? ':file:_files' : '')}'`,
        )
      })
      return `    ${name}) _arguments '--help[]' ${[...specs, "'*:file:_files'"].join(' ')} ;;`
    }),
    '  esac',
    '}',
    'compdef _svc svc',
    '',
  ].join('\n')

const fish = (commands: readonly CompletionWords[]): string =>
  [
    ...commands.map(
      ({ name, summary }) =>
        `complete -c svc -n __fish_use_subcommand -f -a ${name} -d '${summary}'`,
    ),
    ...commands.flatMap(({ name, flags }) =>
      flags.map(({ flag, short, values, takesFile }) => {
        const letter = short.map((each) => ` -s ${each.slice(1)}`).join('')
        const choices = values.length > 0 ? ` -x -a '${values.join(' ')}'` : takesFile ? ' -r' : ''
        return `complete -c svc -n '__fish_seen_subcommand_from ${name}'${letter} -l ${flag.slice(2)}${choices}`
      }),
    ),
    '',
  ].join('\n')

const SCRIPTS = { bash, zsh, fish } as const satisfies Record<
  Shell,
  (commands: readonly CompletionWords[]) => string
>
