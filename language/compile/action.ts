// Compiles Action Objects (§2.5, behaviour §4): one compiler per type, in one table.

import { childPointer } from '../../base/json-pointer.ts'
import { checkHeaders } from './headers.ts'
import { compileHosts } from './hosts.ts'
import type { CompiledAction, ForwardTarget } from '../compiled.ts'
import { METHODS, type Method } from '../document.ts'
import { ownValue } from '../expression/lookup.ts'
import { constant, type Template } from '../expression/template.ts'
import type { Findings } from './findings.ts'
import { type FoldedMap, readOneOf, readShape, readText, readTextOrWait } from './folded.ts'
import { isWampPattern, type WampMatch } from '../wamp-uri.ts'

type Compiler = (map: FoldedMap, findings: Findings) => CompiledAction | undefined
type TypeName = Exclude<CompiledAction['type'], 'empty'>

const COMPILERS: Readonly<Record<TypeName, Compiler>> = {
  static: (map, findings) => compileStatic(map, findings),
  forward: (map, findings) => compileForward(map, findings),
  wamp_call: (map, findings) => withUri('wamp_call', map, findings, ['procedure']),
  wamp_publish: (map, findings) => withUri('wamp_publish', map, findings, ['topic', 'procedure']),
  wamp_subscribe: (map, findings) =>
    withUri('wamp_subscribe', map, findings, ['topic', 'procedure']),
  wamp_register: (map, findings) => withUri('wamp_register', map, findings, ['procedure']),
  wamp_unsubscribe: (map, findings) =>
    withOptionalUri('wamp_unsubscribe', map, findings, ['topic', 'procedure']),
  wamp_unregister: (map, findings) =>
    withOptionalUri('wamp_unregister', map, findings, ['procedure']),
}

const ACTION_TYPES = Object.keys(COMPILERS) as readonly TypeName[]

/** undefined: a problem was reported. `{}` is an action under `options` alone. */
export const compileAction = (
  map: FoldedMap,
  method: Method,
  findings: Findings,
): CompiledAction | undefined => {
  if (method === 'options' && map.keys.length === 0) return { type: 'empty' }
  const pointer = childPointer(map.pointer, 'type')
  const typeTemplate = map.get('type')
  if (typeTemplate === undefined) {
    if (!map.keys.includes('type'))
      findings.problem(
        'missing_required_value',
        pointer,
        `an action needs a type: ${ACTION_TYPES.join(', ')}`,
      )
    return undefined
  }
  const text = readText(typeTemplate, pointer, findings)
  if (text === undefined) return undefined
  const type = ACTION_TYPES.find((name) => name === text)
  if (type === undefined) {
    findings.problem(
      'unsupported_action_type',
      pointer,
      `there is no action of that type; there are ${ACTION_TYPES.join(', ')}`,
    )
    return undefined
  }
  return COMPILERS[type](map, findings)
}

const compileStatic: Compiler = (map, findings) => {
  const headers = headersMember(map, findings)
  return {
    type: 'static',
    ...(headers === undefined ? {} : { headers }),
    body: map.get('body') ?? constant(''),
  }
}

const compileForward: Compiler = (map, findings) => {
  const target = compileTarget(map, findings)
  const methodTemplate = map.get('http_method')
  const method =
    methodTemplate &&
    readOneOf(methodTemplate, childPointer(map.pointer, 'http_method'), METHODS, findings)
  const path = textMember(map, 'path', findings)
  const queryString = textMember(map, 'query_string', findings)
  const headers = headersMember(map, findings)
  const body = map.get('body')
  if (target === undefined) return undefined
  return {
    type: 'forward',
    ...target,
    ...(method === undefined ? {} : { method }),
    ...(path === undefined ? {} : { path }),
    ...(queryString === undefined ? {} : { queryString }),
    ...(headers === undefined ? {} : { headers }),
    ...(body === undefined ? {} : { body }),
  }
}

const compileTarget = (map: FoldedMap, findings: Findings): ForwardTarget | undefined => {
  if (!map.keys.includes('hosts')) {
    const host = requiredText(map, ['host'], findings)
    return host && { host }
  }
  if (map.keys.includes('host'))
    findings.problem(
      'invalid_value',
      childPointer(map.pointer, 'host'),
      'an action has either host or hosts, not both',
    )
  const template = map.get('hosts')
  const hosts = template && compileHosts(template, childPointer(map.pointer, 'hosts'), findings)
  return hosts && { hosts }
}

interface WampParts {
  readonly options: Template
  readonly args: Template
  readonly kwargs: Template
}

const wampParts = (map: FoldedMap, findings: Findings): WampParts => ({
  options: shapeMember(map, ['options'], 'map', findings) ?? constant({}),
  args: shapeMember(map, ['args', 'arguments'], 'list', findings) ?? constant([]),
  kwargs: shapeMember(map, ['kwargs', 'arguments_kw'], 'map', findings) ?? constant({}),
})

type UriType = 'wamp_call' | 'wamp_publish' | 'wamp_subscribe' | 'wamp_register'

const withUri = (
  type: UriType,
  map: FoldedMap,
  findings: Findings,
  names: readonly string[],
): CompiledAction | undefined => {
  const uri = requiredText(map, names, findings)
  const parts = wampParts(map, findings)
  if (uri === undefined) return undefined
  const match = isPattern(type) ? matchOf(parts.options) : 'exact'
  checkUri(uri, match, childPointer(map.pointer, presentName(map, names)), findings)
  return { type, uri, ...parts }
}

const withOptionalUri = (
  type: 'wamp_unsubscribe' | 'wamp_unregister',
  map: FoldedMap,
  findings: Findings,
  names: readonly string[],
): CompiledAction => {
  const name = presentName(map, names)
  const uri = textMember(map, name, findings)
  if (uri !== undefined) checkUri(uri, 'wildcard', childPointer(map.pointer, name), findings)
  return { type, ...(uri === undefined ? {} : { uri }), ...wampParts(map, findings) }
}

const isPattern = (type: UriType): boolean => type === 'wamp_subscribe' || type === 'wamp_register'

/** What `options.match` says; the loosest where only the request knows. */
const matchOf = (options: Template): WampMatch => {
  const match = optionOf(options, 'match')
  if (match?.kind !== 'constant') return match === undefined ? 'exact' : 'wildcard'
  return match.value === 'prefix' || match.value === 'wildcard' ? match.value : 'exact'
}

const optionOf = (options: Template, name: string): Template | undefined => {
  if (options.kind === 'map') return options.entries.find(([key]) => key === name)?.[1]
  if (options.kind !== 'constant') return options
  const value = ownValue(options.value, name)
  return value === undefined ? undefined : constant(value)
}

const checkUri = (uri: Template, match: WampMatch, pointer: string, findings: Findings): void => {
  if (uri.kind !== 'constant' || typeof uri.value !== 'string') return
  if (isWampPattern(uri.value, match)) return
  findings.problem(
    'invalid_value',
    pointer,
    'this is no WAMP URI: its parts, separated by dots, may not be empty nor hold blanks or #',
  )
}

const presentName = (map: FoldedMap, names: readonly string[]): string =>
  names.find((name) => map.keys.includes(name)) ?? names[0] ?? ''

const requiredText = (
  map: FoldedMap,
  names: readonly string[],
  findings: Findings,
): Template | undefined => {
  const name = presentName(map, names)
  if (!map.keys.includes(name)) {
    findings.problem(
      'missing_required_value',
      childPointer(map.pointer, name),
      `${names.join(' or ')} is required here`,
    )
    return undefined
  }
  return textMember(map, name, findings)
}

const textMember = (map: FoldedMap, name: string, findings: Findings): Template | undefined => {
  const template = map.get(name)
  return template && readTextOrWait(template, childPointer(map.pointer, name), findings)
}

const headersMember = (map: FoldedMap, findings: Findings): Template | undefined => {
  const headers = shapeMember(map, ['headers'], 'map', findings)
  if (headers !== undefined) checkHeaders(headers, childPointer(map.pointer, 'headers'), findings)
  return headers
}

const shapeMember = (
  map: FoldedMap,
  names: readonly string[],
  shape: 'map' | 'list',
  findings: Findings,
): Template | undefined => {
  const name = presentName(map, names)
  const template = map.get(name)
  return template && readShape(template, childPointer(map.pointer, name), shape, findings)
}
