// Warns of expressions of an operation that can only fail where they stand: of those that every request evaluates as
// AlwaysFails. Nothing is refused for it: the other operations of a document go on.

import { actionResponse, canFail, templateUsesOf, usesLimits } from './action.ts'
import type { CompiledOperation, CompiledRefusal } from './compiled.ts'
import type { CompiledResponse } from './compiled-response.ts'
import { explainFunctionError, kindOf, showSource } from '../expression/errors.ts'
import { functionNamed } from '../expression/functions/functions.ts'
import { sourceOf } from '../expression/source.ts'
import type {
  PipeArgument,
  PipeCall,
  PipeTemplate,
  ReadTemplate,
  Template,
} from '../expression/template.ts'
import type { Value } from '../expression/value.ts'
import type { WarningCode } from '../problem.ts'
import { readOrigin } from '../upstream-origin.ts'
import { literalBinding } from './literal-segments.ts'
import { unfitPath, unfitQuery } from './target-failures.ts'
import type { Culprit } from './written-place.ts'
import {
  explainMissingRead,
  isNeverEmptyField,
  type Phase,
  type RequestFacts,
  unmatchedHeader,
  usualHeader,
} from './missing-reads.ts'

export type Keys = readonly (string | number)[]

/** Reports a warning about what stands at `keys` of the operation. */
export type WarnAt = (code: WarningCode, keys: Keys, message: string, culprit?: Culprit) => void

/** @param names what the document calls the URI of a WAMP action */
export const warnOfFailures = (
  operation: CompiledOperation,
  facts: RequestFacts,
  uriName: string,
  warn: WarnAt,
): void => {
  for (const use of usesOf(operation, uriName))
    visit(use.template, use.isCertain, { phase: use.phase, facts, warn, keys: [...use.keys] })
  warnOfHost(operation, warn)
  warnOfTarget(operation, warn)
  warnOfLiteralBinding(operation, facts, warn)
}

/** Warns of what fails in `on_refusal`. */
export const warnOfRefusal = ({ headers, body }: CompiledRefusal, warn: WarnAt): void => {
  const walk = { phase: 'refusal', facts: ANY_REQUEST, warn } as const
  visit(headers, false, { ...walk, keys: ['headers'] })
  if (body !== undefined) visit(body, false, { ...walk, keys: ['body'] })
}

/** Any of a version, so that it is not known what is bound. */
const ANY_REQUEST: RequestFacts = {
  path: '',
  method: 'get',
  bindings: undefined,
  security: undefined,
  action: 'empty',
}

/** A template, when it is evaluated, and whether every request does so. */
interface Use {
  readonly template: Template
  readonly keys: Keys
  readonly phase: Phase
  readonly isCertain: boolean
}

/** @param uriName what the document calls the URI of a WAMP action */
export const usesOf = (operation: CompiledOperation, uriName: string): readonly Use[] => [
  ...usesOfAction(operation, uriName),
  ...usesOfLimits(operation),
  ...usesOfRateLimits(operation),
  ...usesOfResponse(operation.onResult, 'result', !canFail(operation.action)),
  ...usesOfResponse(operation.onError, 'error', false),
  {
    template: operation.headers,
    keys: ['headers'],
    phase: 'any',
    isCertain: !canFail(operation.action) && answersWithOwnHeaders(operation),
  },
]

const answersWithOwnHeaders = (operation: CompiledOperation): boolean =>
  operation.onResult.headers === undefined && actionResponse(operation).headers === undefined

const use =
  (phase: Phase) =>
  (isCertain: boolean, keys: Keys, template: Template | undefined): readonly Use[] =>
    template === undefined ? [] : [{ template, keys, phase, isCertain }]

const inAction = use('action')

const usesOfAction = (operation: CompiledOperation, uriName: string): readonly Use[] =>
  templateUsesOf(operation, { uri: uriName }).flatMap(({ template, keys, isCertain }) =>
    inAction(isCertain, ['action', ...keys], template),
  )

const usesOfLimits = ({ action, limits }: CompiledOperation): readonly Use[] => {
  const isCertain = usesLimits(action)
  return [
    ...inAction(isCertain, ['timeout'], limits.timeout),
    ...inAction(isCertain, ['connect_timeout'], limits.connectTimeout),
    ...inAction(isCertain, ['retries'], limits.retries),
    ...inAction(isCertain, ['retry_timeout'], limits.retryTimeout),
  ]
}

const usesOfRateLimits = ({ rateLimits }: CompiledOperation): readonly Use[] =>
  (rateLimits?.limits ?? []).flatMap(({ name, requests, cost, by }) => [
    // Such a failure is none of the request.
    ...inAction(false, ['rate_limits', name, 'requests'], requests),
    ...inAction(false, ['rate_limits', name, 'cost'], cost),
    ...inAction(false, ['rate_limits', name, 'by'], by),
  ])

const usesOfResponse = (
  response: CompiledResponse,
  phase: 'result' | 'error',
  isCertain: boolean,
): readonly Use[] => {
  const of = use(phase)
  const at = (name: string): Keys => ['response', `on_${phase}`, name]
  return [
    ...of(isCertain, at('status_code'), response.statusCode),
    ...of(isCertain, at('headers'), response.headers),
    ...of(isCertain, at('body'), response.body),
    ...of(isCertain, at('uri'), response.uri),
  ]
}

interface Walk {
  readonly phase: Phase
  readonly facts: RequestFacts
  readonly warn: WarnAt
  /** Where the walk is, in the operation. */
  readonly keys: (string | number)[]
}

const visit = (template: PipeArgument, isCertain: boolean, walk: Walk): void => {
  switch (template.kind) {
    case 'constant':
    case 'piped':
      return
    case 'read':
      warnOfRead(template, { source: undefined, isCertain }, walk)
      return
    case 'text':
      for (const part of template.parts) if (typeof part !== 'string') visit(part, isCertain, walk)
      return
    case 'pipe':
      visitPipe(template, isCertain, walk)
      return
    case 'list':
      for (const [index, item] of template.items.entries()) visitAt(index, item, isCertain, walk)
      return
    case 'map':
      for (const [key, child] of template.entries) visitAt(key, child, isCertain, walk)
  }
}

const visitAt = (
  key: string | number,
  template: Template,
  isCertain: boolean,
  walk: Walk,
): void => {
  walk.keys.push(key)
  visit(template, isCertain, walk)
  walk.keys.pop()
}

interface ReadUse {
  /** Undefined: the read itself is all there is. */
  readonly source: string | undefined
  readonly isCertain: boolean
}

const warnOfRead = (
  read: ReadTemplate,
  { source, isCertain }: ReadUse,
  { phase, facts, warn, keys }: Walk,
): void => {
  const reason = explainMissingRead(read.root, read.keys, phase, facts)
  if (reason === undefined) {
    warnOfOddHeader(read, source, { warn, keys })
    return
  }
  const written = source ?? sourceOf(read)
  const explain = (count: number): string | undefined =>
    explainMissingRead(read.root, read.keys.slice(0, count), phase, facts)
  const key = read.keys.findIndex((_, index) => explain(index + 1) !== undefined) + 1
  const culprit: Culprit = source === undefined ? { read, key } : { source, call: 'get' }
  if (isCertain) warn('AlwaysFails', keys, `${failing(written, facts)}: ${reason}`, culprit)
  else warn('UnknownContextKey', keys, `${showSource(written)} can only fail: ${reason}`, culprit)
}

/** `request.headers.content_type`, which a request may have, and seldom has. */
const warnOfOddHeader = (
  read: ReadTemplate,
  source: string | undefined,
  { warn, keys }: Pick<Walk, 'warn' | 'keys'>,
): void => {
  const [field, name = ''] = read.keys
  const usual = read.root === 'request' && field === 'headers' ? usualHeader(name) : undefined
  if (usual === undefined) return
  const message = `${showSource(source ?? sourceOf(read))}: few clients send a header of this name; did you mean request.headers.${usual}?`
  const culprit: Culprit = source === undefined ? { read, key: 2 } : { source, call: 'get' }
  warn('SuspiciousExpression', keys, message, culprit)
}

const failing = (source: string, { method, path }: RequestFacts): string =>
  `${showSource(source)} fails for every ${method.toUpperCase()} ${path}`

const visitPipe = (pipe: PipeTemplate, isCertain: boolean, walk: Walk): void => {
  const { input, calls } = pipe
  const picked = input.kind === 'read' ? pickedKey(calls[0]) : undefined
  if (input.kind !== 'read' || picked === undefined) visit(input, isCertain, walk)
  else if (picked.hasDefault) {
    warnOfUnmatchedHeader(pipe, input, picked.key, walk)
    warnOfOddHeader({ ...input, keys: [...input.keys, picked.key] }, pipe.source, walk)
  } else {
    const keys = [...input.keys, picked.key]
    warnOfRead({ ...input, keys }, { source: pipe.source, isCertain }, walk)
  }
  for (const [index, call] of calls.entries()) {
    // The empty text passes every function, and then no argument is evaluated.
    const isReached = isCertain && index === 0 && isNeverEmpty(input)
    for (const arg of call.args) visit(arg, isReached, walk)
    warnOfArguments(pipe, call, isReached, walk)
  }
}

/** `get(key)` reads as a path does. */
const pickedKey = (
  call: PipeCall | undefined,
): { readonly key: string; readonly hasDefault: boolean } | undefined => {
  const [key] = call?.args ?? []
  if (call?.name !== 'get' || key?.kind !== 'constant' || typeof key.value !== 'string')
    return undefined
  return { key: key.value, hasDefault: call.args.length > 1 }
}

const warnOfUnmatchedHeader = (
  { source }: PipeTemplate,
  { root, keys }: ReadTemplate,
  name: string,
  { warn, keys: place }: Walk,
): void => {
  const isOfHeaders = root === 'request' && keys.length === 1 && keys[0] === 'headers'
  const reason = isOfHeaders ? unmatchedHeader(name) : undefined
  if (reason !== undefined)
    warn('UnknownContextKey', place, `${showSource(source)} always gives the default: ${reason}`, {
      source,
      call: 'get',
    })
}

const isNeverEmpty = (input: Template): boolean => {
  switch (input.kind) {
    case 'map':
    case 'list':
      return true
    case 'text':
      return input.parts.some((part) => typeof part === 'string')
    case 'constant':
      return input.value !== ''
    case 'pipe':
      return false
    case 'read':
      return input.root === 'request'
        ? input.keys.length === 0 ||
            (input.keys.length === 1 && isNeverEmptyField(input.keys[0] ?? ''))
        : input.keys.length === 0
  }
}

const warnOfArguments = (
  { source }: PipeTemplate,
  call: PipeCall,
  isCertain: boolean,
  { facts, warn, keys }: Walk,
): void => {
  const verify = functionNamed(call.name)?.verifyArguments
  if (verify === undefined) return
  const known = call.args.map((arg): Value | undefined =>
    arg.kind === 'constant' ? arg.value : undefined,
  )
  try {
    verify(known)
  } catch (error) {
    const reason = explainFunctionError(call.name, error, kindOf)
    const culprit = { source, call: call.name }
    if (isCertain) warn('AlwaysFails', keys, `${failing(source, facts)}: ${reason}`, culprit)
    else warn('UnsuitableArgument', keys, `${showSource(source)} can only fail: ${reason}`, culprit)
  }
}

/** What is no origin is found in `hosts` when those are compiled. No value is shown: a variable may be a Secret. */
const warnOfHost = ({ action }: CompiledOperation, warn: WarnAt): void => {
  if (action.type !== 'forward' || action.host?.kind !== 'constant') return
  const { value } = action.host
  const reading = typeof value === 'string' ? readOrigin(value) : undefined
  if (reading?.ok === false)
    warn('AlwaysFails', ['action', 'host'], `every request fails: the host ${reading.message}`)
}

/** No value is shown, as of a host. */
const warnOfTarget = ({ action }: CompiledOperation, warn: WarnAt): void => {
  if (action.type !== 'forward') return
  const path = action.path && unfitPath(action.path)
  const query = action.queryString && unfitQuery(action.queryString)
  if (path !== undefined)
    warn('AlwaysFails', ['action', 'path'], `every request fails: the path ${path.reason}`, {
      text: path.text,
    })
  if (query !== undefined)
    warn(
      'AlwaysFails',
      ['action', 'query_string'],
      `every request fails: the query string ${query.reason}`,
      { text: query.text },
    )
}

/** `/orders/:id`, where the path of the operation binds `id`: the upstream gets it as it stands. */
const warnOfLiteralBinding = (
  { action }: CompiledOperation,
  { bindings = [] }: RequestFacts,
  warn: WarnAt,
): void => {
  if (action.type !== 'forward' || action.path === undefined || bindings.length === 0) return
  for (const text of textsOf(action.path)) {
    const literal = literalBinding(text, bindings)
    if (literal !== undefined)
      warn('TakenLiterally', ['action', 'path'], literal.message, { text: literal.segment })
  }
}

const textsOf = (template: Template): readonly string[] => {
  if (template.kind === 'constant')
    return typeof template.value === 'string' ? [template.value] : []
  return template.kind === 'text' ? template.parts.filter((part) => typeof part === 'string') : []
}
