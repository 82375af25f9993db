// Renders a table of settings as the text of `--help` and as the page docs/settings.md.

import type { ReasonedTable, RepeatedFlag, Setting, SettingsTable } from './settings-table.ts'
import { describeExpected } from './settings-value.ts'

/** Usage, commands, settings with their defaults: the common ones, or all. */
export const renderHelp = (table: SettingsTable, question: 'help' | 'help all'): string => {
  const commands = Object.entries(table.commands ?? {})
  const shown = question === 'help all' ? undefined : table.common
  const left = shown === undefined ? 0 : Object.keys(table.settings).length - shown.length
  const rows = [
    ...rowsOf(table.settings, shown),
    ['  --config FILE', 'YAML map of settings, without the dashes'] as const,
    ['  --help, --version', 'print and end'] as const,
    ...(left > 0 ? [['  --help all', `print the other ${left} settings too`] as const] : []),
  ]
  return [
    `${table.program}: ${table.summary}`,
    '',
    `Usage: ${table.program} [settings]`,
    ...commands.flatMap(([name, help]) => {
      const lines = wrap(help, LINE - COMMAND_INDENT.length)
      return [
        `       ${table.program} ${name} [settings]`,
        ...lines.map((line) => `${COMMAND_INDENT}${line}`),
      ]
    }),
    '',
    `A flag wins over its variable (${table.envPrefix}…, upper case, _ for -), that over the --config file.`,
    '',
    ...layOut(rows),
    '',
  ].join('\n')
}

/** What the help of one command is made of. */
interface CommandHelp {
  /** With its program: `svc diff`. */
  readonly name: string
  readonly summary: string
  readonly operands?: string
  readonly repeated?: RepeatedFlag
  readonly settings: SettingsTable['settings']
  /** Whole command lines, each with what it does. */
  readonly examples: readonly (readonly [line: string, what: string])[]
}

/** The output of `COMMAND --help`: what the command takes, and examples. */
export const renderCommandHelp = (help: CommandHelp): string => {
  const { name, summary, operands, repeated, settings, examples } = help
  const rows = layOut([...repeatedRows(repeated), ...rowsOf(settings)])
  const own = repeated === undefined ? '' : `[${repeated.flag} ${repeated.placeholder}]…`
  return [
    ...wrap(`${name}: ${summary}`, LINE),
    '',
    ['Usage:', name, operands, own, rows.length > 0 && '[settings]'].filter(Boolean).join(' '),
    ...(rows.length === 0 ? [] : ['', ...rows]),
    '',
    'Examples:',
    ...examples.flatMap(([line, what]) => [`  ${line}`, `      ${what}`]),
    '',
  ].join('\n')
}

const COMMAND_INDENT = ' '.repeat(11)

const LINE = 100

/** Broken at blanks; a word that is longer than a line stays whole. */
const wrap = (text: string, width: number): readonly string[] => {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}

const repeatedRows = (
  repeated: RepeatedFlag | undefined,
): readonly (readonly [string, string])[] =>
  repeated === undefined ? [] : [[`  ${repeated.flag} ${repeated.placeholder}`, repeated.help]]

const rowsOf = (
  settings: SettingsTable['settings'],
  shown: readonly string[] = Object.keys(settings),
): readonly (readonly [flag: string, help: string])[] =>
  Object.entries(settings).flatMap(([name, setting]) =>
    shown.includes(name) ? [rowOf(name, setting)] : [],
  )

const rowOf = (name: string, setting: Setting): readonly [string, string] => [
  `  ${flagOf(name, setting)}`,
  `${setting.help}${describeDefault(setting)}`,
]

/**
 * One section of docs/settings.md, which `make golden` writes.
 * @internal
 */
export const renderSettingsMarkdown = (table: ReasonedTable): string => {
  const commands = Object.entries(table.commands ?? {}).map(
    ([name, help]) => `- \`${table.program} ${name}\`: ${help}`,
  )
  const rows = Object.entries(table.settings).map(([name, setting]) =>
    [
      `\`--${name}\``,
      `\`${table.envPrefix}${name.toUpperCase().replaceAll('-', '_')}\``,
      describeExpected(setting),
      textOfDefault(setting) === '' ? '' : `\`${textOfDefault(setting)}\``,
      describeNeeds(setting),
      setting.reason,
    ]
      .map((cell) => cell.replaceAll('|', '\\|'))
      .join(' | '),
  )
  return [
    `## ${table.program}`,
    '',
    `${table.summary[0]?.toUpperCase() ?? ''}${table.summary.slice(1)}.`,
    ...(commands.length === 0 ? [] : ['', ...commands]),
    '',
    '| flag | variable | value | default | | who needs it |',
    '|---|---|---|---|---|---|',
    ...rows.map((row) => `| ${row} |`),
    '',
  ].join('\n')
}

/** @example '-n, --namespace NAME' */
const flagOf = (name: string, setting: Setting): string => {
  const short = setting.short === undefined ? '' : `-${setting.short}, `
  if (setting.type === 'boolean') return `${short}--${setting.default ? 'no-' : ''}${name}`
  return `${short}--${name} ${setting.placeholder ?? PLACEHOLDERS[setting.type]}`
}

const PLACEHOLDERS = {
  address: 'ADDRESS',
  integer: 'N',
  number: 'N',
  duration: 'SECONDS',
  string: 'TEXT',
  path: 'PATH',
  list: 'LIST',
  enum: 'WORD',
  custom: 'VALUE',
} satisfies Record<Exclude<Setting['type'], 'boolean'>, string>

const describeDefault = (setting: Setting): string => {
  const values = setting.type === 'enum' ? ` (${setting.values.join(', ')})` : ''
  // `--no-flag` says what is there without it.
  const text = setting.type === 'boolean' ? '' : textOfDefault(setting)
  return `${values}${text === '' ? '' : ` [${text}]`}`
}

/** Empty where there is no default to show: off, or no element. */
const textOfDefault = (setting: Setting): string => {
  if (setting.default === null || setting.default === false) return ''
  return Array.isArray(setting.default) ? setting.default.join(',') : String(setting.default)
}

const describeNeeds = (setting: Setting): string => {
  const needs = setting.needs ?? []
  return needs.length === 0
    ? setting.help
    : `${setting.help}; needs ${needs.map((name) => `\`--${name}\``).join(', ')}`
}

const MOST_FLAG = 36

/** Flags in one column, what they do in the other; no line is longer than a terminal is wide. */
const layOut = (rows: readonly (readonly [flag: string, help: string])[]): readonly string[] => {
  const widths = rows.map(([flag]) => flag.length).filter((width) => width <= MOST_FLAG)
  const column = Math.max(0, ...widths) + 2
  const indent = ' '.repeat(column)
  return rows.flatMap(([flag, help]) => {
    const [first = '', ...others] = wrap(help, LINE - column)
    const head =
      flag.length + 2 > column ? [flag, `${indent}${first}`] : [`${flag.padEnd(column)}${first}`]
    return [...head, ...others.map((line) => `${indent}${line}`)]
  })
}
