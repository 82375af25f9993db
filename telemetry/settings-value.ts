// Parses the text of one setting into its typed value, for the closed set of setting types. Reads no source and knows
// no program.

import type { Address, ListSetting, NumberSetting, Setting } from './settings-table.ts'

/** `off` as the value of a setting whose default is "off". */
export const OFF = 'off'

/**
 * The value of one text; undefined when it is not valid.
 * @example parseValue({ type: 'duration', default: 5, help: '' }, '500ms') // 0.5
 */
export const parseValue = (setting: Setting, text: string): unknown => {
  switch (setting.type) {
    case 'address':
      return parseAddress(text)
    case 'boolean':
      return BOOLEANS.get(text.toLowerCase())
    case 'integer':
    case 'number':
    case 'duration':
      return parseNumber(setting, text)
    case 'string':
    case 'path':
      return text === '' ? undefined : text
    case 'list':
      return parseList(setting, text)
    case 'enum':
      return setting.values.find((value) => value === text)
    case 'custom':
      return setting.parse(text)
  }
}

/** What a good value looks like, to stand after "expected". */
export const describeExpected = (setting: Setting): string => {
  switch (setting.type) {
    case 'address':
      return 'host:port, [::1]:port, :port (every address) or unix:/path'
    case 'boolean':
      return 'true or false'
    case 'integer':
      return `a whole number${describeBounds(setting)}`
    case 'number':
      return `a number${describeBounds(setting)}`
    case 'duration':
      return `seconds${describeBounds(setting)}, or a duration such as 500ms, 10s, 5m or 1h`
    case 'string':
      return 'a text that is not empty'
    case 'path':
      return 'a path'
    case 'list':
      return setting.expected ?? 'a comma-separated list'
    case 'enum':
      return `one of ${setting.values.join(', ')}`
    case 'custom':
      return setting.expected
  }
}

/**
 * `host:port`, `[::1]:port`, `unix:/path`, or `:port` for every address of the machine, IPv6 and IPv4; undefined
 * for anything else. Port 0 lets the system choose.
 * @example parseAddress('[::1]:8080') // { kind: 'tcp', host: '::1', port: 8080 }
 */
export const parseAddress = (text: string): Address | undefined => {
  if (text.startsWith('unix:')) {
    const path = text.slice('unix:'.length)
    // sun_path holds 108 bytes on Linux; the kernel cuts a longer one silently.
    return path.startsWith('/') && Buffer.byteLength(path) < 108
      ? { kind: 'unix', path }
      : undefined
  }
  const found = /^(?:\[([0-9a-fA-F:.]{2,45})\]|([^\s:/[\]@]{0,253})):(\d{1,5})$/.exec(text)
  const port = Number(found?.[3])
  const host = found?.[1] ?? found?.[2]
  return host === undefined || port > 65_535 ? undefined : { kind: 'tcp', host, port }
}

/** The inverse of `parseAddress`. */
export const formatAddress = (address: Address): string => {
  if (address.kind === 'unix') return `unix:${address.path}`
  const host = address.host.includes(':') ? `[${address.host}]` : address.host
  return `${host}:${address.port}`
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['on', true],
  ['yes', true],
  ['false', false],
  ['0', false],
  ['off', false],
  ['no', false],
])

const SECONDS_OF_UNIT: ReadonlyMap<string, number> = new Map([
  ['ms', 0.001],
  ['s', 1],
  ['m', 60],
  ['h', 3600],
])

const NUMBER_FORMS = {
  integer: /^(-?\d{1,16})$/,
  number: /^(-?\d{1,16}(?:\.\d{1,16})?)$/,
  duration: /^(\d{1,12}(?:\.\d{1,6})?)(ms|s|m|h)?$/,
} satisfies Record<NumberSetting['type'], RegExp>

const parseNumber = (setting: NumberSetting, text: string): number | undefined => {
  const found = NUMBER_FORMS[setting.type].exec(text)
  if (found === null) return undefined
  const value = Number(found[1]) * (SECONDS_OF_UNIT.get(found[2] ?? 's') ?? 1)
  const { min = 0, max = Number.MAX_SAFE_INTEGER } = setting
  return value >= min && value <= max ? value : undefined
}

const describeBounds = ({ min = 0, max }: NumberSetting): string =>
  max === undefined ? ` of at least ${min}` : ` from ${min} to ${max}`

const parseList = (setting: ListSetting, text: string): readonly string[] | undefined => {
  const elements = text
    .split(',')
    .map((element) => element.trim())
    .filter((element) => element !== '')
  const { accept } = setting
  return accept === undefined || elements.every((element) => accept(element)) ? elements : undefined
}
