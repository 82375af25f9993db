// Validates a request for admission: allows it or rejects it with every problem at once, and adds short warnings.
// Changes nothing: a dry run is like any other. Problems that may resolve themselves, as in objects that it refers to,
// are warnings. It takes a bounded time: what is not known by then is left to the conditions.

import { type Clock, SYSTEM_CLOCK } from '../../base/clock.ts'
import { withTimeout } from '../../base/timeout.ts'
import type { BoundedCompiler } from '../../compiler/bounded-compiler.ts'
import { CompilerError } from '../../compiler/compile-thread.ts'
import { documentDigest } from '../../language/wire/digest.ts'
import type { DocumentResult } from '../reconcile/documents/compile-document.ts'
import { mapAt, memberAt } from '../../language/expression/members.ts'
import type { ValueMap } from '../../language/expression/value.ts'
import { GROUP } from '../resource/resource.ts'
import { DEFAULT_CLASS } from '../resource/resource-schema.ts'
import { isSameValue } from '../resource/same-value.ts'
import type { Adviser } from './advise-review.ts'
import {
  adviceTexts,
  boundedTexts,
  problemCauses,
  problemMessage,
  notInServiceTexts,
  warningTexts,
} from './problem-text.ts'
import type { Forecast } from './forecast.ts'
import {
  type CompileForReview,
  compileHere,
  validateResource,
  type ResourceValidation,
  type Located,
} from './validate-resource.ts'
import type { AdmissionResponse, AdmissionRequest } from './review.ts'
import { SharedCompilation } from './shared-compilation.ts'
import { checkStoredSize } from './stored-size.ts'

export interface ValidateOptions {
  /** The gatewayClassName of this operator: resources of other operators are not validated. */
  readonly className: string
  /** Absent: everything is compiled at once. */
  readonly compile?: BoundedCompiler<DocumentResult>['compile']
  /** Absent: each object is validated by itself alone. */
  readonly adviser?: Adviser | undefined
  readonly clock?: Pick<Clock, 'after'>
}

/** Less than the three seconds that the API server waits: reading the review and its response take time too. */
const REVIEW_MS = 2_000
/** What the document itself lacks must be known in time, however slow the objects are that it refers to. */
const FORECAST_MS = 1_000

const ALLOWED: AdmissionResponse = { allowed: true, warnings: [] }

export const validateReview = async (
  request: AdmissionRequest,
  options: ValidateOptions,
): Promise<AdmissionResponse> => {
  const { group, kind, subResource, operation, object, oldObject } = request
  if (group !== GROUP || !KINDS.has(kind) || subResource !== '') return ALLOWED
  if (operation === 'DELETE') return reviewDelete(request, options)
  if (object === undefined || !needsValidation(request)) return ALLOWED
  const className = classOf(object)
  if (className !== options.className) return reviewForeign(className, options)
  const size = checkStoredSize(object)
  // An object that was stored with that size before can be stored again.
  if (size.size === 'too_large' && checkStoredSize(oldObject ?? {}).size !== 'too_large') {
    return refusal(request, [{ code: 'too_large', path: '', message: size.message }], [])
  }
  const own = [
    ...adviceTexts(size.size === 'near' ? [size.message] : []),
    ...applyWarnings(request, object),
  ]
  return reviewInTime(request, object, { ...options, own })
}

/** Never rejected, whatever uses it: it must be possible to delete a namespace. */
const reviewDelete = (
  request: AdmissionRequest,
  { className, adviser }: ValidateOptions,
): AdmissionResponse => {
  const { kind, oldObject } = request
  if (kind !== 'Realm' || oldObject === undefined || classOf(oldObject) !== className)
    return ALLOWED
  return allowed(adviceTexts(adviser?.adviseDelete(request) ?? []))
}

const reviewForeign = async (
  className: unknown,
  { adviser }: ValidateOptions,
): Promise<AdmissionResponse> => {
  if (typeof className !== 'string' || adviser === undefined) return ALLOWED
  return allowed(adviceTexts(await adviser.adviseClass(className)))
}

interface ObjectOptions extends ValidateOptions {
  /** Warnings that need no compiling. */
  readonly own: readonly string[]
}

const reviewInTime = async (
  request: AdmissionRequest,
  object: ValueMap,
  options: ObjectOptions,
): Promise<AdmissionResponse> => {
  const { compile = compileHere, clock = SYSTEM_CLOCK, own } = options
  const ended = new AbortController()
  const { signal } = ended
  const { namespace } = request
  const compilation = new SharedCompilation((task) =>
    compile({ ...task, namespace, purpose: 'review', digest: () => digestOf(task), signal }),
  )
  const unfinished = (why: string): AdmissionResponse =>
    allowed([`not validated yet, as ${why}: its conditions will show the result`, ...own])
  try {
    return await withTimeout(reviewObject(request, object, { ...options, compilation }), {
      ms: REVIEW_MS,
      clock,
      onTimeout: () => unfinished('it took too long'),
    })
  } catch (error) {
    if (error instanceof CompilerError) return unfinished(error.message)
    throw error
  } finally {
    ended.abort(new Error('the review has ended'))
  }
}

/**
 * Without Secrets this is the digest of the operator, so that a document is found too expensive only once. With
 * stand-ins for their values it is another document: its result is not that of the text alone, which may be of another
 * tenant.
 */
const digestOf = ({ document, variables }: Parameters<CompileForReview>[0]): string =>
  documentDigest({ spec: variables === undefined ? document : [document, variables] })

const reviewObject = async (
  request: AdmissionRequest,
  object: ValueMap,
  options: ObjectOptions & { readonly compilation: SharedCompilation },
): Promise<AdmissionResponse> => {
  const { compilation, own } = options
  const forecast = await forecastInTime(object, options)
  const validation = await validateResource(object, compilation.reuse)
  if (validation === undefined) return ALLOWED
  if (validation.problems.length > 0) {
    return refusal(request, validation.problems, [...own, ...warningTexts(validation.warnings)])
  }
  const language = warningTexts(languageWarnings(validation, forecast))
  const problems = notInServiceTexts(forecast?.problems ?? [])
  return allowed([...problems, ...own, ...language])
}

const forecastInTime = async (
  object: ValueMap,
  { adviser, compilation, clock }: ValidateOptions & { readonly compilation: SharedCompilation },
): Promise<Forecast | undefined> =>
  adviser &&
  withTimeout(adviser.forecast(object, compilation), {
    ms: FORECAST_MS,
    clock,
    onTimeout: () => undefined,
  })

/** With its real realm and variables there are more warnings than without. */
const languageWarnings = (
  { warnings }: ResourceValidation,
  forecast: Forecast | undefined,
): readonly Located[] => forecast?.warnings ?? warnings

const allowed = (warnings: readonly string[]): AdmissionResponse => ({
  allowed: true,
  warnings: boundedTexts(warnings),
})

const refusal = (
  { kind, namespace, name }: AdmissionRequest,
  problems: readonly Located[],
  warnings: readonly string[],
): AdmissionResponse => ({
  allowed: false,
  warnings: boundedTexts(warnings),
  message: problemMessage(`${kind} ${namespace}/${name}`, problems),
  causes: problemCauses(problems),
})

const KINDS: ReadonlySet<string> = new Set(['ApiSpecification', 'Realm'])

/**
 * An object that was stored before, under older rules or while the webhook did not respond, may be labelled, annotated
 * and deleted: only a spec that changes is validated.
 */
const needsValidation = ({ operation, object = {}, oldObject }: AdmissionRequest): boolean => {
  if (operation === 'CREATE') return true
  if (
    operation !== 'UPDATE' ||
    memberAt(mapAt(object, 'metadata'), 'deletionTimestamp') !== undefined
  )
    return false
  return !isSameValue(memberAt(object, 'spec'), memberAt(oldObject ?? {}, 'spec'))
}

const classOf = (object: ValueMap): unknown =>
  memberAt(mapAt(object, 'spec'), 'gatewayClassName') ?? DEFAULT_CLASS

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'
const SERVER_SIDE =
  'use kubectl apply --server-side: client-side apply drops nulls and stores the object twice'

/** The API server also updates an existing annotation where kubectl applies server-side. */
const applyWarnings = ({ fieldManager }: AdmissionRequest, object: ValueMap): readonly string[] => {
  const annotations = mapAt(mapAt(object, 'metadata'), 'annotations')
  return memberAt(annotations, LAST_APPLIED) !== undefined && fieldManager !== 'kubectl'
    ? [SERVER_SIDE]
    : []
}
