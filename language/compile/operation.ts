// Compiles an Operation Object (§2.4), which is one method of one path folded in the path's scope, into all that
// serving it needs. Problems are reported, and then nothing is returned.

import { childPointer } from '../../base/json-pointer.ts'
import { foldInScope } from './bind-status-codes.ts'
import { compileAction } from './action.ts'
import { compileParts, findInherited, INHERITED_KEYS } from './operation-parts.ts'
import type { PartDeps } from './operation-part.ts'
import type { Levels } from './inheritance.ts'
import { warnOfOwnHeaders } from './own-headers.ts'
import { compileHeaders } from './headers.ts'
import type { CompiledOperation, OperationParts } from './compiled.ts'
import type { CompiledResponse } from './compiled-response.ts'
import type { Method } from '../document.ts'
import type { RealmFacts } from '../realm/environment.ts'
import { INVALID } from '../expression/fold.ts'
import { constant, type Template } from '../expression/template.ts'
import type { Value } from '../expression/value.ts'
import type { Diagnostics } from './diagnostics.ts'
import { type FoldedMap, readShape, readTextOrWait, toFoldedMap } from './folded.ts'
import { reportMisspelt } from './misspelt-restrictions.ts'
import { toPlain } from './plain.ts'
import { operationReads } from './operation-reads.ts'
import { refuseUncheckable, warnOfUnusualBody } from './schemas.ts'
import type { Scope } from './scope.ts'
import type { CompiledSecurity } from './security.ts'
import { warnOfSurprises } from './surprises.ts'
import { UNSENT_IN_RESPONSES } from '../unsent-headers.ts'
import { type WarnAt, type Keys, warnOfFailures } from './warn-of-failures.ts'
import { validatePart } from '../validate.ts'
import { refuseUnsuitableTypes, usualTypes } from './unsuitable-types.ts'

/** The path that an operation belongs to, with its own properties folded. */
export interface PathDeps extends PartDeps {
  readonly security: CompiledSecurity
  readonly map: FoldedMap
  readonly scope: Scope
  /** The security of the document is invalid, and `security` is a placeholder for it. */
  readonly hasFaultySecurity: boolean
  /** The credentials of the realm; undefined: not known. */
  readonly credentials: RealmFacts['credentials']
  /** Its name in messages: `/v1/orders/:id`. */
  readonly template: string
  /** Names that the path and its host bind; undefined: these are invalid. */
  readonly bindings: readonly string[] | undefined
  /** A host of the document is `_`, or another pattern without a name. */
  readonly hasNamelessHost: boolean
  /** The one of them that is the rest of the path. */
  readonly rest: string | undefined
}

export const compileOperation = (
  raw: Value,
  method: Method,
  pointer: string,
  deps: PathDeps,
): CompiledOperation | undefined => {
  const { scope, diagnostics } = deps
  const template = foldInScope(raw, pointer, scope, diagnostics)
  if (typeof raw === 'string' && template !== INVALID)
    validateGiven(template, method, pointer, deps)
  const map = toFoldedMap(template, pointer, diagnostics)
  if (map === undefined) return undefined
  const actionMap = requiredMap(map, 'action', diagnostics)
  const responseMap = optionalMap(map, 'response', diagnostics)
  const action = actionMap && compileAction(actionMap, method, deps)
  const onResult = compileResponse(responseMap, 'on_result', diagnostics)
  const onError = compileResponse(responseMap, 'on_error', diagnostics)
  const levels: Levels = { action: actionMap, operation: map, path: deps.map }
  const parts = compileParts('operation', levels, scope, deps)
  if (action === undefined) return undefined
  const rest = action.type === 'forward' && action.path !== undefined ? deps.rest : undefined
  const given = { action, ...(rest === undefined ? {} : { rest }), onResult, onError }
  const compiled = assemble(pointer, parts, given)
  const uriName = ['topic', 'procedure'].find((name) => actionMap?.keys.includes(name)) ?? 'action'
  const placeOf = placeIn(pointer, levels, deps, parts.rateLimits)
  const warn: WarnAt = (code, keys, message, culprit) => {
    diagnostics.warning(code, placeOf(keys), message, culprit)
  }
  warnOfUnusualBody(method, parts.schema, () => findInherited(levels, scope), diagnostics)
  const written = [
    [parts.headers, ['headers']],
    [onResult.headers, ['response', 'on_result', 'headers']],
    [onError.headers, ['response', 'on_error', 'headers']],
  ] as const
  warnOfOwnHeaders([parts], written, warn)
  const setsRetries = [actionMap, map].some((level) => level?.keys.includes('retries') === true)
  warnOfSurprises(compiled, setsRetries, warn)
  refuseUnsuitableTypes(compiled, uriName, (keys, message) => {
    diagnostics.problem('invalid_value', placeOf(keys), message)
  })
  refuseUncheckable(compiled, (message) => {
    diagnostics.problem('invalid_value', placeOf(['schema_mode']), message)
  })
  refuseRefusalReads(compiled, diagnostics)
  warnOfFailures(
    compiled,
    {
      path: deps.template,
      method,
      bindings: deps.bindings,
      security: deps.hasFaultySecurity ? undefined : deps.security,
      action: action.type,
    },
    uriName,
    warn,
  )
  return compiled
}

/** With what follows from the rest: what is read, and what is accepted where the document does not say it. */
const assemble = (
  pointer: string,
  { security, accepts, ...parts }: OperationParts,
  given: Pick<CompiledOperation, 'action' | 'rest' | 'onResult' | 'onError'>,
): CompiledOperation => {
  const draft = { pointer, security, accepts: accepts ?? [], ...parts, ...given }
  const reads = operationReads({ ...draft, reads: [] })
  return { ...draft, accepts: accepts ?? usualTypes(given.action, reads), reads }
}

/** Where a part of an operation stands: at the level that it is inherited from. */
const placeIn =
  (
    pointer: string,
    levels: Levels,
    { scope }: PathDeps,
    rateLimits: OperationParts['rateLimits'],
  ): ((keys: Keys) => string) =>
  (keys) => {
    const [name = '', ...inner] = keys.map(String)
    if (name === 'rate_limits') {
      const [limit, ...members] = inner
      const place = rateLimits?.limits.find((each) => each.name === limit)?.pointer ?? pointer
      return members.reduce(childPointer, place)
    }
    const isInherited = Object.hasOwn(INHERITED_KEYS, name)
    const placed = isInherited ? findInherited(levels, scope)(name) : undefined
    return placed === undefined
      ? keys.reduce<string>(childPointer, pointer)
      : inner.reduce(childPointer, placed.pointer)
  }

/** What is served is not refused. */
const refuseRefusalReads = (
  { reads, pointer }: CompiledOperation,
  diagnostics: Diagnostics,
): void => {
  if (reads.some((read) => read.split('.')[0] === 'refusal'))
    diagnostics.problem('invalid_expression', pointer, 'refusal can be read in on_refusal only')
}

/** Validates an operation that one expression gives by the same rules as one that is written out. */
const validateGiven = (
  template: Template,
  method: Method,
  pointer: string,
  { scope: { budget }, diagnostics }: PathDeps,
): void => {
  const part = method === 'options' ? 'optionsOperation' : 'operation'
  for (const { code, path, message } of validatePart(part, toPlain(template), pointer))
    diagnostics.problem(code, path, message)
  reportMisspelt(part, template, pointer, { budget, diagnostics })
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
