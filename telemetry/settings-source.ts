// Reads what a command line, an environment and a configuration file say about the settings of a table, as texts with
// their source. Checks names, never values.

import type * as Yaml from 'yaml'
import { loadLazily } from '../base/load-lazily.ts'
import { nearestName } from '../base/nearest-name.ts'
import type { SettingsTable } from './settings-table.ts'

/** A text that some source gives for a setting. */
export interface Given {
  /** `--public`, `SVC_GATEWAY_PUBLIC` or `gateway.yaml: public`, for messages. */
  readonly source: string
  readonly text: string
}

/** What one source says for each setting, or one line with what is wrong with the source. */
export type Source =
  | { readonly ok: true; readonly given: ReadonlyMap<string, Given> }
  | { readonly ok: false; readonly message: string }

/** What is asked in place of a run. */
export type Question = 'help' | 'help all' | 'version'

export interface CommandLine {
  readonly ok: true
  readonly given: ReadonlyMap<string, Given>
  readonly command: string | null
  readonly operands: readonly string[]
  /** Values of the flag that may be repeated, in order. */
  readonly repeated: readonly string[]
  readonly wants: Question | null
}

/** Flags of every program beside its own table. */
export const CONFIG_FLAG = 'config'

/**
 * Reads `--flag value`, `--flag=value`, `-f value`, `--no-flag`, a command or operands; `--` ends the flags.
 */
export const readCommandLine = (
  table: SettingsTable,
  argv: readonly string[],
): CommandLine | { readonly ok: false; readonly message: string } => {
  const given = new Map<string, Given>()
  const flagsEnd = argv.includes('--') ? argv.indexOf('--') : argv.length
  const words: string[] = []
  const repeated: string[] = []
  let wants: CommandLine['wants'] = null
  for (let at = 0; at < flagsEnd; at++) {
    const word = argv[at] ?? ''
    const value = argv[at + 1]
    const question = questionOf(word, wants)
    if (question !== undefined) wants = question
    else if (isRepeated(table, word)) {
      if (value === undefined) return refuse(`${word}: a value must follow`)
      repeated.push(value)
      at++
    } else if (!word.startsWith('-') || word === '-') words.push(word)
    else {
      const flag = readFlag(table, word, value)
      if (!flag.ok) return flag
      if (flag.usedNext) at++
      addFlag(given, table, flag)
    }
  }
  return readWords(table, [...words, ...argv.slice(flagsEnd + 1)], { given, repeated, wants })
}

const isRepeated = ({ repeated }: SettingsTable, word: string): boolean => repeated?.flag === word

/** The first one counts, which `all` may follow. */
const questionOf = (word: string, before: CommandLine['wants']): Question | undefined => {
  if (word === 'all' && before === 'help') return 'help all'
  const question = QUESTIONS.get(word)
  return question && (before ?? question)
}

const QUESTIONS: ReadonlyMap<string, 'help' | 'version'> = new Map([
  ['--help', 'help'],
  ['-h', 'help'],
  ['--version', 'version'],
])

/** Reads variables that begin with the prefix of the table; an empty one counts as not set. */
export const readEnvironment = (
  table: SettingsTable,
  env: Readonly<Record<string, string | undefined>>,
): Source => {
  const given = new Map<string, Given>()
  for (const [variable, text] of Object.entries(env)) {
    if (!variable.startsWith(table.envPrefix) || text === undefined || text === '') continue
    const name = variable.slice(table.envPrefix.length).toLowerCase().replaceAll('_', '-')
    if (isSetting(table, name)) given.set(name, { source: variable, text })
    else if (!isServiceLink(variable)) return unknown(table, variable, name)
  }
  return { ok: true, given }
}

/** Reads a YAML map whose keys are flag names; lists and scalars only. */
export const readConfigText = (table: SettingsTable, file: string, yaml: string): Source => {
  // Loaded only where there is a file: it takes 20 ms of a start and 3 MB.
  const { parseDocument } = loadLazily('yaml') as typeof Yaml
  const document = parseDocument(yaml)
  const [failed] = document.errors
  if (failed !== undefined) return refuse(`${file}: ${failed.message.split('\n')[0] ?? 'not YAML'}`)
  const content: unknown = document.toJS({ maxAliasCount: 0 })
  if (content === null || content === undefined) return { ok: true, given: new Map() }
  if (typeof content !== 'object' || Array.isArray(content)) {
    return refuse(`${file}: expected a map of settings`)
  }
  const given = new Map<string, Given>()
  for (const [key, value] of Object.entries(content)) {
    const source = `${file}: ${key}`
    if (key === CONFIG_FLAG) return refuse(`${source}: cannot be set in a file`)
    if (!isSetting(table, key)) return unknown(table, source, key)
    const text = textOf(value)
    if (text === undefined) return refuse(`${source}: expected a text, number, boolean or list`)
    given.set(key, { source, text })
  }
  return { ok: true, given }
}

const refuse = (message: string): { readonly ok: false; readonly message: string } => ({
  ok: false,
  message,
})

const isSetting = (table: SettingsTable, name: string): boolean =>
  name === CONFIG_FLAG || Object.hasOwn(table.settings, name)

interface Flag {
  readonly ok: true
  readonly name: string
  readonly text: string
  readonly usedNext: boolean
}

const readFlag = (
  table: SettingsTable,
  word: string,
  next: string | undefined,
): Flag | { readonly ok: false; readonly message: string } => {
  const equals = word.indexOf('=')
  const flag = equals === -1 ? word : word.slice(0, equals)
  const name = flag.startsWith('--') ? flag.slice(2) : longName(table, flag.slice(1))
  if (name === undefined) return unknown(table, flag, flag.slice(1))
  const negated = name.startsWith('no-') ? name.slice('no-'.length) : ''
  if (equals === -1 && typeOf(table, negated) === 'boolean') {
    return { ok: true, name: negated, text: 'false', usedNext: false }
  }
  if (!isSetting(table, name)) return unknown(table, flag, name)
  if (equals !== -1) return { ok: true, name, text: word.slice(equals + 1), usedNext: false }
  if (typeOf(table, name) === 'boolean') return { ok: true, name, text: 'true', usedNext: false }
  if (next === undefined || next.startsWith('--')) return refuse(`${flag}: a value must follow`)
  return { ok: true, name, text: next, usedNext: true }
}

/** Undefined: no flag has this letter. */
const longName = (table: SettingsTable, letter: string): string | undefined =>
  Object.entries(table.settings).find(([, { short }]) => short === letter)?.[0]

const typeOf = (table: SettingsTable, name: string): string | undefined =>
  Object.hasOwn(table.settings, name) ? table.settings[name]?.type : undefined

/** The last one wins, but for lists, which add up. */
const addFlag = (given: Map<string, Given>, table: SettingsTable, flag: Flag): void => {
  const before = given.get(flag.name)?.text
  const adds = before !== undefined && typeOf(table, flag.name) === 'list'
  const text = adds ? `${before},${flag.text}` : flag.text
  given.set(flag.name, { source: `--${flag.name}`, text })
}

const readWords = (
  table: SettingsTable,
  words: readonly string[],
  rest: Pick<CommandLine, 'given' | 'repeated' | 'wants'>,
): CommandLine | { readonly ok: false; readonly message: string } => {
  const [word, excess] = words
  if (word === undefined || table.operands !== undefined)
    return { ok: true, command: null, operands: words, ...rest }
  if (!Object.hasOwn(table.commands ?? {}, word))
    return refuse(`${word}: unexpected argument; see --help`)
  if (excess !== undefined) return refuse(`${excess}: ${word} takes no argument`)
  return { ok: true, command: word, operands: [], ...rest }
}

/** Kubernetes puts these into every pod for a Service of the same name as the program. */
const isServiceLink = (variable: string): boolean =>
  /_(?:SERVICE_HOST|SERVICE_PORT(?:_\w{1,63})?|PORT(?:_\d{1,5}_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)?)$/.test(
    variable,
  )

const textOf = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (!Array.isArray(value)) return undefined
  const texts = value.map((element: unknown) =>
    Array.isArray(element) ? undefined : textOf(element),
  )
  return texts.includes(undefined) ? undefined : texts.join(',')
}

const unknown = (
  table: SettingsTable,
  source: string,
  name: string,
): { readonly ok: false; readonly message: string } => {
  const near = nearestName(name, [...Object.keys(table.settings), CONFIG_FLAG])
  return refuse(
    `${source}: unknown setting; ${near === undefined ? 'see --help' : `did you mean --${near}?`}`,
  )
}
