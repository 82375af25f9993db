// A request for admission in; allowed or every fault at once, and short warnings, out. Pure: a dry run is like
// any other.

import type { ValueMap } from '../../spec/expression/value.ts'
import { DEFAULT_CLASS, GROUP } from '../resource/resource.ts'
import { isSameValue } from '../resource/same-value.ts'
import { faultCauses, faultMessage, warningTexts } from './fault-text.ts'
import { judgeResource } from './judge-resource.ts'
import { type AdmissionAnswer, type AdmissionRequest, map, own } from './review.ts'

export interface ValidateOptions {
  /** gatewayClassName that is ours: what is another operator's is not judged by us. */
  readonly className: string
}

const ALLOWED: AdmissionAnswer = { allowed: true, warnings: [] }

export const validateReview = (
  request: AdmissionRequest,
  { className }: ValidateOptions,
): AdmissionAnswer => {
  const { object, kind } = request
  if (object === undefined || !isToBeJudged(request)) return ALLOWED
  if (classOf(object) !== className) return ALLOWED
  const judgement = judgeResource(object)
  if (judgement === undefined) return ALLOWED
  const { faults } = judgement
  const warnings = [...applyWarnings(request, object), ...warningTexts(judgement.warnings)]
  if (faults.length === 0) return { allowed: true, warnings }
  const subject = `${kind} ${request.namespace}/${request.name}`
  return {
    allowed: false,
    warnings,
    message: faultMessage(subject, faults),
    causes: faultCauses(faults),
  }
}

const KINDS: ReadonlySet<string> = new Set(['ApiSpecification', 'Realm'])

/**
 * What was let in before, with older rules or while nobody was asked, may be labelled, annotated and taken leave of:
 * only a spec that changes is judged.
 */
const isToBeJudged = (request: AdmissionRequest): boolean => {
  const { group, kind, operation, subResource, object = {}, oldObject } = request
  if (group !== GROUP || !KINDS.has(kind) || subResource !== '') return false
  if (operation === 'CREATE') return true
  if (
    operation !== 'UPDATE' ||
    own(map(object, 'metadata') ?? {}, 'deletionTimestamp') !== undefined
  )
    return false
  return !isSameValue(own(object, 'spec'), own(oldObject ?? {}, 'spec'))
}

const classOf = (object: ValueMap): unknown =>
  own(map(object, 'spec') ?? {}, 'gatewayClassName') ?? DEFAULT_CLASS

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'
const SERVER_SIDE =
  'use kubectl apply --server-side: client-side apply drops nulls and stores the object twice'

/** The API server keeps an annotation that is there up to date also where kubectl applies server-side. */
const applyWarnings = ({ fieldManager }: AdmissionRequest, object: ValueMap): readonly string[] => {
  const annotations = map(map(object, 'metadata') ?? {}, 'annotations') ?? {}
  return own(annotations, LAST_APPLIED) !== undefined && fieldManager !== 'kubectl'
    ? [SERVER_SIDE]
    : []
}
