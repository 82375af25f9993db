// Computes the typed settings of a program from its table, its command line, environment and configuration file, or one
// line that says what is wrong. Never exits, never reads the environment by itself.

import { messageOf } from '../base/thrown.ts'
import {
  CONFIG_FLAG,
  readCommandLine,
  readConfigText,
  readEnvironment,
  type Given,
  type Question,
  type Source,
} from './settings-source.ts'
import type { Setting, Settings, SettingsTable } from './settings-table.ts'
import { describeExpected, OFF, parseValue } from './settings-value.ts'

export type ParsedSettings<T extends SettingsTable> =
  | {
      readonly kind: 'settings'
      readonly settings: Settings<T>
      /** One of the table's commands, or null for the program itself. */
      readonly command: string | null
      readonly operands: readonly string[]
      /** Values of the flag that may be repeated, in order. */
      readonly repeated: readonly string[]
      /** Names of the settings that some source gives. */
      readonly given: ReadonlySet<string>
    }
  | { readonly kind: Question }
  /** One line for stderr, exit 2. */
  | { readonly kind: 'error'; readonly message: string }

/**
 * Flag before environment before `--config` file before default. `--flag value`, `--flag=value`,
 * `--no-flag` for booleans; list flags may be repeated; `off` turns off what is off by default.
 * @param readConfigFile gives the text of the file; an error that it throws becomes the message
 * @example
 * const parsed = parseSettings(TABLE, process.argv.slice(2), process.env, (path) => readFileSync(path, 'utf8'))
 */
export const parseSettings = <const T extends SettingsTable>(
  table: T,
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  readConfigFile: (path: string) => string,
): ParsedSettings<T> => {
  const line = readCommandLine(table, argv)
  if (!line.ok) return failed(line.message)
  if (line.wants !== null) return { kind: line.wants }
  const environment = readEnvironment(table, env)
  if (!environment.ok) return failed(environment.message)
  const configFile = line.given.get(CONFIG_FLAG) ?? environment.given.get(CONFIG_FLAG)
  const file = readConfig(table, configFile, readConfigFile)
  if (!file.ok) return failed(file.message)

  const given = new Map([...file.given, ...environment.given, ...line.given])
  given.delete(CONFIG_FLAG)
  const values = readValues(table, given)
  if (!values.ok) return failed(values.message)
  return {
    kind: 'settings',
    // Built from the same table that the type is derived from, key by key.
    settings: values.settings as unknown as Settings<T>,
    command: line.command,
    operands: line.operands,
    repeated: line.repeated,
    given: new Set(given.keys()),
  }
}

const failed = (message: string): { readonly kind: 'error'; readonly message: string } => ({
  kind: 'error',
  message,
})

const readConfig = (
  table: SettingsTable,
  file: Given | undefined,
  readConfigFile: (path: string) => string,
): Source => {
  if (file === undefined) return { ok: true, given: new Map() }
  try {
    return readConfigText(table, file.text, readConfigFile(file.text))
  } catch (error) {
    const reason = messageOf(error)
    return { ok: false, message: `${file.source}: cannot read the file: ${reason}` }
  }
}

type Values =
  | { readonly ok: true; readonly settings: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly message: string }

const readValues = (table: SettingsTable, given: ReadonlyMap<string, Given>): Values => {
  const settings: Record<string, unknown> = {}
  for (const [name, setting] of Object.entries(table.settings)) {
    const said = given.get(name)
    const value = said === undefined ? defaultOf(setting) : valueOf(setting, said.text)
    if (value === undefined) {
      const { source, text } = said ?? {
        source: `default of --${name}`,
        text: String(setting.default),
      }
      return {
        ok: false,
        message: `${source}: ${setting.isSecret === true ? 'this' : `'${cut(text)}'`} is not valid; expected ${describeExpected(setting)}`,
      }
    }
    settings[camelCase(name)] = value
    const missing =
      said === undefined ? undefined : setting.needs?.find((needed) => !given.has(needed))
    if (
      said !== undefined &&
      missing !== undefined &&
      value !== null &&
      value !== setting.default
    ) {
      return { ok: false, message: `${said.source}: needs --${missing} too` }
    }
  }
  return { ok: true, settings }
}

const valueOf = (setting: Setting, text: string): unknown =>
  setting.default === null && text === OFF ? null : parseValue(setting, text)

const defaultOf = (setting: Setting): unknown => {
  if (setting.default === null) return null
  return setting.type === 'address' || setting.type === 'custom'
    ? parseValue(setting, setting.default)
    : setting.default
}

const camelCase = (name: string): string =>
  name.replaceAll(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())

const cut = (text: string): string => (text.length > 80 ? `${text.slice(0, 80)}…` : text)
