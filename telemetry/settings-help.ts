// Renders a table of settings as the text of `--help` and as the page docs/settings.md.

import type { Setting, SettingsTable } from './settings-table.ts'
import { describeExpected } from './settings-value.ts'

/** The whole output of `--help`: usage, commands, every setting with its default. */
export const renderHelp = (table: SettingsTable): string => {
  const commands = Object.entries(table.commands ?? {})
  const rows = [
    ...rowsOf(table),
    ['  --config FILE', 'YAML map of these settings, without the dashes'] as const,
    ['  --help, --version', 'print and end'] as const,
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

/** The settings alone, a line or two each. */
export const renderSettingRows = (table: SettingsTable): readonly string[] => layOut(rowsOf(table))

const rowsOf = (table: SettingsTable): readonly (readonly [string, string])[] =>
  Object.entries(table.settings).map(([name, setting]) => [
    `  ${flagOf(name, setting)}`,
    `${setting.help}${describeDefault(setting)}`,
  ])

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
