// Compiles an Operation Object (§2.4), which is one method of one path folded in the path's scope, into all that
// serving it needs. Problems are reported, and then nothing is returned.

import { childPointer } from '../../base/json-pointer.ts'
import { foldInScope } from './bind-status-codes.ts'
import { compileAction } from './action.ts'
import { compileBodyLimits, compileCallLimits, isLimit, nearest } from './limits.ts'
import { compileHeaders } from './headers.ts'
import type { CompiledSecurity } from './security.ts'
import type { CompiledOperation, CompiledResponse, ContentType } from '../compiled.ts'
import type { Method } from '../document.ts'
import type { RealmFacts } from '../environment.ts'
import { FAULT } from '../expression/fold.ts'
import { constant, type Template } from '../expression/template.ts'
import type { Value } from '../expression/value.ts'
import type { Diagnostics } from './diagnostics.ts'
import {
  type FoldedMap,
  type Placed,
  readShape,
  readTextOrWait,
  readTexts,
  toFoldedMap,
} from './folded.ts'
import { toPlain } from './plain.ts'
import { operationReads } from '../operation-reads.ts'
import type { Scope } from './scope.ts'
import { UNSENT_IN_RESPONSES } from '../unsent-headers.ts'
import { validatePart } from '../validate.ts'
import { type WarnAt, warnOfFailures } from './warn-of-failures.ts'

const PROVIDES: readonly ContentType[] = [
  'application/json',
  'application/json; charset=utf-8',
  'application/msgpack',
  'application/msgpack; charset=utf-8',
]
const ACCEPTS: readonly ContentType[] = [...PROVIDES, 'application/x-www-form-urlencoded']
const NO_HEADERS = constant({})
const DEFAULT_TYPES: readonly ContentType[] = ['application/json', 'application/msgpack']

/** The path that an operation belongs to, with its own properties folded. */
export interface PathDeps {
  readonly map: FoldedMap
  readonly scope: Scope
  readonly security: CompiledSecurity
  /** The security of the document is invalid, and `security` is a placeholder for it. */
  readonly hasFaultySecurity: boolean
  /** Of the realm; undefined: not known. */
  readonly credentials: RealmFacts['credentials']
  readonly diagnostics: Diagnostics
  /** Its name in messages: `/v1/orders/:id`. */
  readonly template: string
  /** Names that the path and its host bind; undefined: these are invalid. */
  readonly bindings: readonly string[] | undefined
  /** Inherited header maps that have been checked: a version's paths share them. */
  readonly validatedHeaders: Map<Placed, Template>
}

export const compileOperation = (
  raw: Value,
  method: Method,
  pointer: string,
  deps: PathDeps,
): CompiledOperation | undefined => {
  const { scope, diagnostics } = deps
  const template = foldInScope(raw, pointer, scope, diagnostics)
  if (typeof raw === 'string' && template !== FAULT)
    validateGiven(template, method, pointer, diagnostics)
  const map = toFoldedMap(template, pointer, diagnostics)
  if (map === undefined) return undefined
  refuseSecurity(map, diagnostics)
  const actionMap = requiredMap(map, 'action', diagnostics)
  const responseMap = optionalMap(map, 'response', diagnostics)
  const action = actionMap && compileAction(actionMap, method, deps)
  const onResult = compileResponse(responseMap, 'on_result', diagnostics)
  const onError = compileResponse(responseMap, 'on_error', diagnostics)
  const body = compileBodyLimits([map, deps.map], scope, diagnostics)
  const limits = compileCallLimits([actionMap, map, deps.map], scope, diagnostics)
  const accepts = compileTypes('accepts', ACCEPTS, deps)
  const provides = compileTypes('provides', PROVIDES, deps)
  const headers = compilePathHeaders(deps)
  if (action === undefined) return undefined
  const { security } = deps
  const parts = { pointer, security, accepts, provides, headers, body, limits, action }
  const operation: CompiledOperation = { ...parts, onResult, onError, reads: [] }
  const compiled = { ...operation, reads: operationReads(operation) }
  warnOfFailures(
    compiled,
    {
      path: deps.template,
      method,
      bindings: deps.bindings,
      security: deps.hasFaultySecurity ? undefined : security.type,
      action: action.type,
    },
    ['topic', 'procedure'].find((name) => actionMap?.keys.includes(name)) ?? 'action',
    warnAt({ pointer, map, actionMap }, deps),
  )
  return compiled
}

interface Written {
  readonly pointer: string
  readonly map: FoldedMap
  readonly actionMap: FoldedMap | undefined
}

/** Warns of a part of an operation, at the level that it is inherited from. */
const warnAt =
  ({ pointer, map, actionMap }: Written, { map: pathMap, scope, diagnostics }: PathDeps): WarnAt =>
  (code, keys, message, culprit) => {
    const [name = '', ...inner] = keys.map(String)
    const levels = name === 'headers' ? [pathMap] : [actionMap, map, pathMap]
    const isInherited = name === 'headers' || isLimit(name)
    const placed = isInherited ? nearest([name], levels, scope) : undefined
    const place =
      placed === undefined
        ? keys.reduce<string>(childPointer, pointer)
        : inner.reduce(childPointer, placed.pointer)
    diagnostics.warning(code, place, message, culprit)
  }

/** An error, unlike other unknown properties, as its author believes that it protects the path. */
const refuseSecurity = ({ keys, pointer }: FoldedMap, diagnostics: Diagnostics): void => {
  if (keys.includes('security'))
    diagnostics.problem(
      'invalid_value',
      childPointer(pointer, 'security'),
      'security stands on a path, a version or the API: an operation has none of its own',
    )
}

/** Validates an operation that one expression gives by the same rules as one that is written out. */
const validateGiven = (
  template: Template,
  method: Method,
  pointer: string,
  diagnostics: Diagnostics,
): void => {
  const part = method === 'options' ? 'optionsOperation' : 'operation'
  for (const { code, path, message } of validatePart(part, toPlain(template), pointer))
    diagnostics.problem(code, path, message)
}

/** The nearest of the path's and the defaults' headers, whole. */
export const compilePathHeaders = (deps: PathDeps): Template => {
  const { map, scope, diagnostics, validatedHeaders } = deps
  const placed = nearest(['headers'], [map], scope)
  if (placed === undefined) return NO_HEADERS
  const validated = validatedHeaders.get(placed)
  if (validated !== undefined) return validated
  const template = readShape(placed.template, placed.pointer, 'map', diagnostics)
  const headers =
    template && compileHeaders(template, placed.pointer, UNSENT_IN_RESPONSES, diagnostics)
  validatedHeaders.set(placed, headers ?? NO_HEADERS)
  return headers ?? NO_HEADERS
}

const compileTypes = (
  name: 'accepts' | 'provides',
  allowed: readonly ContentType[],
  { map, scope, diagnostics }: PathDeps,
): readonly ContentType[] => {
  const placed = nearest([name], [map], scope)
  return (
    (placed && readTexts(placed.template, placed.pointer, allowed, diagnostics)) ?? DEFAULT_TYPES
  )
}

const requiredMap = (
  map: FoldedMap,
  key: string,
  diagnostics: Diagnostics,
): FoldedMap | undefined => {
  const pointer = childPointer(map.pointer, key)
  const template = map.get(key)
  if (template !== undefined) return toFoldedMap(template, pointer, diagnostics)
  if (!map.keys.includes(key))
    diagnostics.problem('missing_required_value', pointer, `an operation needs an ${key}`)
  return undefined
}

const optionalMap = (
  map: FoldedMap | undefined,
  key: string,
  diagnostics: Diagnostics,
): FoldedMap | undefined => {
  const template = map?.get(key)
  return map && template && toFoldedMap(template, childPointer(map.pointer, key), diagnostics)
}

const compileResponse = (
  responseMap: FoldedMap | undefined,
  key: 'on_result' | 'on_error',
  diagnostics: Diagnostics,
): CompiledResponse => {
  const map = optionalMap(responseMap, key, diagnostics)
  if (map === undefined) return { declared: false }
  const member = (name: string): Template | undefined => map.get(name)
  const headersPointer = childPointer(map.pointer, 'headers')
  const written =
    member('headers') &&
    readShape(member('headers') ?? constant({}), headersPointer, 'map', diagnostics)
  const headers =
    written && compileHeaders(written, headersPointer, UNSENT_IN_RESPONSES, diagnostics)
  const statusCode = member('status_code')
  const statusPointer = childPointer(map.pointer, 'status_code')
  if (statusCode !== undefined) checkStatus(statusCode, statusPointer, diagnostics)
  const uri =
    member('uri') &&
    readTextOrWait(member('uri') ?? constant(''), childPointer(map.pointer, 'uri'), diagnostics)
  const body = member('body')
  return {
    declared: true,
    ...(headers === undefined ? {} : { headers }),
    ...(body === undefined ? {} : { body }),
    ...(statusCode === undefined ? {} : { statusCode }),
    ...(uri === undefined ? {} : { uri }),
  }
}

const checkStatus = (template: Template, pointer: string, diagnostics: Diagnostics): void => {
  if (template.kind === 'map' || template.kind === 'list') {
    diagnostics.problem('invalid_datatype', pointer, 'a status is a number or numeric text')
    return
  }
  if (template.kind !== 'constant') return
  const { value } = template
  const status = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value
  if (typeof status !== 'number')
    diagnostics.problem('invalid_datatype', pointer, 'a status is a number or numeric text')
  else if (!Number.isInteger(status) || status < 200 || status > 599)
    diagnostics.problem('invalid_value', pointer, 'a status is a whole number from 200 to 599')
}
