// Renders a table of settings as the text of `--help` and as the page docs/settings.md.

import type { RepeatedFlag, Setting, SettingsTable } from './settings-table.ts'
import { describeExpected } from './settings-value.ts'

/** The whole output of `--help`: usage, commands, every setting with its default. */
export const renderHelp = (table: SettingsTable): string => {
  const commands = Object.entries(table.commands ?? {})
  const rows = [
    ...rowsOf(table),
    ['  --config FILE', 'YAML map of these settings, without the dashes'] as const,
    ['  --help, --version', 'print and end; behind a command: what that takes'] as const,
  ]
  return [
    `${table.program}: ${table.summary}`,
    '',
    `Usage: ${table.program} [settings]`,
    ...commands.map(([name, command]) => {
      const words = [table.program, name, command.operands, '[settings]'].filter(Boolean).join(' ')
      return `       ${words}\n           ${command.help}`
    }),
    '',
    `A flag wins over its variable (${table.envPrefix}…, upper case, _ for -), that over the --config file.`,
    '',
    ...layOut(rows),
    '',
  ].join('\n')
}

/** The output of `COMMAND --help`: what the command takes, and examples. All of it where there is no such command. */
export const renderCommandHelp = (table: SettingsTable, name: string): string => {
  const commands = table.commands ?? {}
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command === undefined) return renderHelp(table)
  const { operands, repeated, settings = [], examples = [] } = command
  const own = repeated === undefined ? '' : `[${repeated.flag} ${repeated.placeholder}]…`
  const rows = settings.flatMap((each) => {
    const setting = Object.hasOwn(table.settings, each) ? table.settings[each] : undefined
    return setting === undefined ? [] : [rowOf(each, setting)]
  })
  return [
    ['Usage:', table.program, name, operands, own, '[settings]'].filter(Boolean).join(' '),
    '',
    ...wrap(command.help),
    '',
    ...layOut([
      ...repeatedRows(repeated),
      ...rows,
      ['  --config FILE', 'YAML map of these settings, without the dashes'],
    ]),
    ...(examples.length === 0 ? [] : ['', 'Examples:', ...examples.map((each) => `  ${each}`)]),
    '',
  ].join('\n')
}

const LINE = 100

/** Broken at blanks. */
const wrap = (text: string): readonly string[] => {
  const lines: string[] = ['']
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? ''
    if (last === '') lines[lines.length - 1] = word
    else if (last.length + word.length < LINE) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

/** The flag that may be repeated and the settings alone, a line or two each. */
export const renderSettingRows = (table: SettingsTable): readonly string[] =>
  layOut([...repeatedRows(table.repeated), ...rowsOf(table)])

const repeatedRows = (
  repeated: RepeatedFlag | undefined,
): readonly (readonly [string, string])[] =>
  repeated === undefined ? [] : [[`  ${repeated.flag} ${repeated.placeholder}`, repeated.help]]

const rowsOf = (table: SettingsTable): readonly (readonly [string, string])[] =>
  Object.entries(table.settings).map(([name, setting]) => rowOf(name, setting))

const rowOf = (name: string, setting: Setting): readonly [string, string] => [
  `  ${flagOf(name, setting)}`,
  `${setting.help}${describeDefault(setting)}`,
]

/**
 * One section of docs/settings.md, which `make golden` writes.
 * @internal
 */
export const renderSettingsMarkdown = (table: SettingsTable): string => {
  const commands = Object.entries(table.commands ?? {}).map(
    ([name, command]) =>
      `- \`${[table.program, name, command.operands].filter(Boolean).join(' ')}\`: ${command.help}`,
  )
  const rows = Object.entries(table.settings).map(([name, setting]) =>
    [
      `\`--${name}\``,
      `\`${table.envPrefix}${name.toUpperCase().replaceAll('-', '_')}\``,
      describeExpected(setting),
      textOfDefault(setting) === '' ? '' : `\`${textOfDefault(setting)}\``,
      describeNeeds(setting),
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
    '| flag | variable | value | default | |',
    '|---|---|---|---|---|',
    ...rows.map((row) => `| ${row} |`),
    '',
  ].join('\n')
}

const flagOf = (name: string, setting: Setting): string => {
  if (setting.type === 'boolean') return `--${setting.default ? 'no-' : ''}${name}`
  return `--${name} ${setting.placeholder ?? PLACEHOLDERS[setting.type]}`
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
  const text = textOfDefault(setting)
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

const HELP_COLUMN = 38

const layOut = (rows: readonly (readonly [string, string])[]): readonly string[] =>
  rows.map(([flag, text]) =>
    flag.length < HELP_COLUMN - 1
      ? `${flag.padEnd(HELP_COLUMN)}${text}`
      : `${flag}\n${' '.repeat(HELP_COLUMN)}${text}`,
  )
