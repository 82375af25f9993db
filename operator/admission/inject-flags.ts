// Finds the flags and variables in the settings of sidecars that would keep a gateway from starting, or that are not
// allowed. Uses the gateway's own table: with one problem no Pod with a sidecar would start. Shows no value that may be
// a secret. Pure.

import { childPointer } from '../../base/json-pointer.ts'
import { memberAt } from '../../language/expression/members.ts'
import { isMap, type Value } from '../../language/expression/value.ts'
import type { Problem } from '../../language/problem.ts'
import { CONFIG_FLAG } from '../../telemetry/settings-source.ts'
import type { Setting, SettingsTable } from '../../telemetry/settings-table.ts'
import { parseSettings } from '../../telemetry/settings.ts'
import { GATEWAY_FLAGS } from './gateway-flags.ts'

/** @example flagProblems(['--log-level=loud'], []) // [{ path: '/args/0', … }] */
export const flagProblems = (args: readonly Value[], env: readonly Value[]): readonly Problem[] => {
  const flags = args.map((arg, index) => flagOf(arg, childPointer('/args', index)))
  const variables = env.flatMap((each, index) => variableOf(each, childPointer('/env', index)))
  const given = new Set([...SET_BY_US, ...[...flags, ...variables].map(({ name }) => name)])
  return [...flags, ...variables].flatMap((said) => {
    const words = problemOf(said) ?? needOf(said, given)
    return words === undefined
      ? []
      : [{ code: 'invalid_value' as const, path: said.path, message: `${said.path}: ${words}` }]
  })
}

/** @example flagName('--log-level=debug') // 'log-level' */
export const flagName = (arg: string): string | undefined =>
  /^--([a-z][a-z0-9-]*)(?:=|$)/.exec(arg)?.[1]

const BY_ANNOTATION = 'it is set by an annotation of the pod'
const OURS = 'the injection sets it itself'
const DRAIN_DELAY = 'drain-delay-seconds'

/** The same in every gateway that is injected. */
const SET_BY_US = [
  'public',
  'management',
  'management-tls-cert',
  'management-tls-key',
  'management-client-ca',
  'management-client-name',
  'managed',
  'health',
  'state-dir',
]

/**
 * Flags that are not allowed, with the reason.
 * @internal written into the chart
 */
export const CLOSED_FLAGS: ReadonlyMap<string, string> = new Map([
  ...[...SET_BY_US, 'pid-file'].map((name): readonly [string, string] => [name, OURS]),
  ['public', BY_ANNOTATION],
  ['upstream-local-ports', BY_ANNOTATION],
  ['management-token-file', 'the operator has a certificate, so no token is needed'],
  [CONFIG_FLAG, 'give each of its settings as a flag'],
  [DRAIN_DELAY, 'give it as env SVC_GATEWAY_DRAIN_DELAY_SECONDS: the preStop reads it too'],
])

interface Said {
  readonly path: string
  /** Name of the setting; empty: it is not written as one. */
  readonly name: string
  /** How it is named in the sidecar's settings. */
  readonly source: string
  /** Undefined: it is known in the pod alone. */
  readonly text: string | undefined
}

const flagOf = (arg: Value, path: string): Said => {
  const text = typeof arg === 'string' ? arg : ''
  const name = flagName(text) ?? ''
  const negated = name.replace(/^no-/, '')
  const isNegation = settingOf(negated)?.type === 'boolean'
  return { path, name: isNegation ? negated : name, source: `--${name}`, text }
}

const variableOf = (each: Value, path: string): readonly Said[] => {
  if (!isMap(each)) return []
  const [variable, value] = [memberAt(each, 'name'), memberAt(each, 'value')]
  const { envPrefix } = GATEWAY_FLAGS
  if (typeof variable !== 'string' || !variable.startsWith(envPrefix)) return []
  const name = variable.slice(envPrefix.length).toLowerCase().replaceAll('_', '-')
  return [{ path, name, source: variable, text: typeof value === 'string' ? value : undefined }]
}

const settingOf = (name: string): Setting | undefined =>
  Object.hasOwn(GATEWAY_FLAGS.settings, name) ? GATEWAY_FLAGS.settings[name] : undefined

const problemOf = (said: Said): string | undefined =>
  said.name === ''
    ? 'write it as --name=value'
    : (closedProblem(said) ?? secretProblem(said) ?? valueProblem(said))

const closedProblem = ({ name, source }: Said): string | undefined => {
  const reason =
    name === DRAIN_DELAY && !source.startsWith('--') ? undefined : CLOSED_FLAGS.get(name)
  return reason === undefined ? undefined : `${source} can't be given here: ${reason}`
}

const secretProblem = ({ name, source, text }: Said): string | undefined => {
  if (settingOf(name)?.isSecret !== true || text?.includes('@') !== true) return undefined
  const variable = `${GATEWAY_FLAGS.envPrefix}${name.toUpperCase().replaceAll('-', '_')}`
  return `${source} holds a password, which everybody who may read Pods would see: give it as env ${variable}, with valueFrom a Secret`
}

const valueProblem = ({ name, source, text }: Said): string | undefined => {
  // The value from a Secret is validated by the gateway.
  if (text === undefined && settingOf(name) !== undefined) return undefined
  const parsed = source.startsWith('--')
    ? parseSettings(EACH_ALONE, [text ?? ''], {}, noFile)
    : parseSettings(EACH_ALONE, [], { [source]: text ?? '?' }, noFile)
  if (parsed.kind === 'settings') return undefined
  return parsed.kind === 'error'
    ? parsed.message
    : `${source} can't be given here: the gateway would print something and exit`
}

const needOf = ({ name, source }: Said, given: ReadonlySet<string>): string | undefined => {
  const missing = settingOf(name)?.needs?.find((needed) => !given.has(needed))
  return missing === undefined ? undefined : `${source} needs --${missing} too`
}

const EACH_ALONE: SettingsTable = {
  ...GATEWAY_FLAGS,
  settings: Object.fromEntries(
    Object.entries(GATEWAY_FLAGS.settings).map(([name, setting]) => [
      name,
      { ...setting, needs: [] },
    ]),
  ),
}

const noFile = (): string => ''
