// A request for admission in; allowed or every fault at once, and short warnings, out. Changes nothing: a dry run is
// like any other. What may come right by itself, as what others refer to, is warned of and never refused.

import { mapAt, memberAt } from '../../language/expression/members.ts'
import type { ValueMap } from '../../language/expression/value.ts'
import { DEFAULT_CLASS, GROUP } from '../resource/resource.ts'
import { isSameValue } from '../resource/same-value.ts'
import type { Adviser } from './advise-review.ts'
import {
  adviceTexts,
  boundedTexts,
  faultCauses,
  faultMessage,
  troubleTexts,
  warningTexts,
} from './fault-text.ts'
import type { Forecast } from './forecast.ts'
import {
  type CompileForReview,
  compileHere,
  judgeResource,
  type Judgement,
  type Located,
} from './judge-resource.ts'
import type { AdmissionAnswer, AdmissionRequest } from './review.ts'
import { judgeSize } from './stored-size.ts'

export interface ValidateOptions {
  /** gatewayClassName that is ours: what is another operator's is not judged by us. */
  readonly className: string
  /** Everything is compiled at once when absent. */
  readonly compile?: CompileForReview
  /** Absent: each object is judged by itself alone. */
  readonly adviser?: Adviser | undefined
}

const ALLOWED: AdmissionAnswer = { allowed: true, warnings: [] }

export const validateReview = async (
  request: AdmissionRequest,
  options: ValidateOptions,
): Promise<AdmissionAnswer> => {
  const { group, kind, subResource, operation, object, oldObject } = request
  if (group !== GROUP || !KINDS.has(kind) || subResource !== '') return ALLOWED
  if (operation === 'DELETE') return reviewDelete(request, options)
  if (object === undefined || !isToBeJudged(request)) return ALLOWED
  const className = classOf(object)
  if (className !== options.className) return reviewForeign(className, options)
  const size = judgeSize(object)
  // A store that has taken as much before takes it again.
  if (size.size === 'too_large' && judgeSize(oldObject ?? {}).size !== 'too_large') {
    return refusal(request, [{ code: 'too_large', path: '', message: size.message }], [])
  }
  return reviewObject(request, object, {
    ...options,
    sizeAdvice: size.size === 'near' ? [size.message] : [],
  })
}

/** Never refused, whatever uses it: a namespace must go. */
const reviewDelete = (
  request: AdmissionRequest,
  { className, adviser }: ValidateOptions,
): AdmissionAnswer => {
  const { kind, oldObject } = request
  if (kind !== 'Realm' || oldObject === undefined || classOf(oldObject) !== className)
    return ALLOWED
  return allowed(adviceTexts(adviser?.adviseDelete(request) ?? []))
}

const reviewForeign = async (
  className: unknown,
  { adviser }: ValidateOptions,
): Promise<AdmissionAnswer> => {
  if (typeof className !== 'string' || adviser === undefined) return ALLOWED
  return allowed(adviceTexts(await adviser.adviseClass(className)))
}

const reviewObject = async (
  request: AdmissionRequest,
  object: ValueMap,
  options: ValidateOptions & { readonly sizeAdvice: readonly string[] },
): Promise<AdmissionAnswer> => {
  const { adviser, compile = compileHere } = options
  const forecast = await adviser?.forecast(object)
  const judgement = await judgeResource(
    object,
    request.namespace,
    forecast?.compilation.reused(compile) ?? compile,
  )
  if (judgement === undefined) return ALLOWED
  const own = applyWarnings(request, object)
  if (judgement.faults.length > 0) {
    return refusal(request, judgement.faults, [...own, ...warningTexts(judgement.warnings)])
  }
  const language = warningTexts(languageWarnings(judgement, forecast))
  const troubles = troubleTexts(forecast?.troubles ?? [])
  return allowed([...troubles, ...adviceTexts(options.sizeAdvice), ...own, ...language])
}

/** With its real realm and variables there is more to say than without. */
const languageWarnings = (
  { warnings }: Judgement,
  forecast: Forecast | undefined,
): readonly Located[] => forecast?.warnings ?? warnings

const allowed = (warnings: readonly string[]): AdmissionAnswer => ({
  allowed: true,
  warnings: boundedTexts(warnings),
})

const refusal = (
  { kind, namespace, name }: AdmissionRequest,
  faults: readonly Located[],
  warnings: readonly string[],
): AdmissionAnswer => ({
  allowed: false,
  warnings: boundedTexts(warnings),
  message: faultMessage(`${kind} ${namespace}/${name}`, faults),
  causes: faultCauses(faults),
})

const KINDS: ReadonlySet<string> = new Set(['ApiSpecification', 'Realm'])

/**
 * What was let in before, with older rules or while nobody was asked, may be labelled, annotated and taken leave of:
 * only a spec that changes is judged.
 */
const isToBeJudged = ({ operation, object = {}, oldObject }: AdmissionRequest): boolean => {
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

/** The API server keeps an annotation that is there up to date also where kubectl applies server-side. */
const applyWarnings = ({ fieldManager }: AdmissionRequest, object: ValueMap): readonly string[] => {
  const annotations = mapAt(mapAt(object, 'metadata'), 'annotations')
  return memberAt(annotations, LAST_APPLIED) !== undefined && fieldManager !== 'kubectl'
    ? [SERVER_SIDE]
    : []
}
