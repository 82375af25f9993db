// AdmissionReview of admission.k8s.io/v1 as we read and answer it: an unknown value in, a request out, and back.

import { pointerKeys } from '../../base/json-pointer.ts'
import { mapAt, memberAt, textAt } from '../../language/expression/members.ts'
import { isList, isMap, type Value, type ValueMap } from '../../language/expression/value.ts'

export interface AdmissionRequest {
  readonly uid: string
  readonly group: string
  readonly kind: string
  /** `CREATE`, `UPDATE`, `DELETE`, `CONNECT`. */
  readonly operation: string
  /** `status`, …; empty: the object itself. */
  readonly subResource: string
  readonly namespace: string
  /** Empty where the API server has still to make it up. */
  readonly name: string
  /** Of who applies; `kubectl` is server-side, `kubectl-client-side-apply` is not. */
  readonly fieldManager: string
  /** Nothing may be written for it. */
  readonly isDryRun: boolean
  readonly object: ValueMap | undefined
  readonly oldObject: ValueMap | undefined
}

export type AdmissionAnswer =
  | {
      readonly allowed: true
      readonly warnings: readonly string[]
      /** JSON patch (RFC 6902); absent: the object stays as it is. */
      readonly patch?: readonly object[]
    }
  | {
      readonly allowed: false
      readonly warnings: readonly string[]
      /** For people, in lines. */
      readonly message: string
      /** For machines; fewer than there are where there are many. */
      readonly causes: readonly AdmissionCause[]
    }

export interface AdmissionCause {
  readonly reason: string
  readonly message: string
  /** JSON pointer into the object. */
  readonly field: string
}

const API_VERSION = 'admission.k8s.io/v1'

/** Undefined: this is no AdmissionReview that we know how to answer. */
export const readReview = (value: unknown): AdmissionRequest | undefined => {
  if (!isMap(value) || memberAt(value, 'apiVersion') !== API_VERSION) return undefined
  const request = memberAt(value, 'request')
  if (!isMap(request)) return undefined
  const uid = textAt(request, 'uid')
  const kind = memberAt(request, 'kind')
  if (uid === '' || !isMap(kind)) return undefined
  const [object, oldObject] = [memberAt(request, 'object'), memberAt(request, 'oldObject')]
  return {
    uid,
    group: textAt(kind, 'group'),
    kind: textAt(kind, 'kind'),
    operation: textAt(request, 'operation'),
    subResource: textAt(request, 'subResource'),
    namespace: textAt(request, 'namespace'),
    name: textAt(request, 'name'),
    fieldManager: textAt(mapAt(request, 'options'), 'fieldManager'),
    isDryRun: memberAt(request, 'dryRun') === true,
    object: isMap(object) ? object : undefined,
    oldObject: isMap(oldObject) ? oldObject : undefined,
  }
}

export const reviewAnswer = (
  { uid, kind, group, name }: AdmissionRequest,
  answer: AdmissionAnswer,
): object => ({
  apiVersion: API_VERSION,
  kind: 'AdmissionReview',
  response: {
    uid,
    allowed: answer.allowed,
    ...(answer.warnings.length > 0 && { warnings: answer.warnings }),
    ...(answer.allowed &&
      answer.patch !== undefined && {
        patchType: 'JSONPatch',
        patch: Buffer.from(JSON.stringify(answer.patch)).toString('base64'),
      }),
    ...(!answer.allowed && {
      status: {
        status: 'Failure',
        code: 422,
        message: answer.message,
        details: { name, group, kind, causes: answer.causes },
      },
    }),
  },
})

/** What a JSON pointer leads to, and the last thing on the way that is there. */
export const follow = (
  root: Value,
  pointer: string,
): { readonly node: Value; readonly isReached: boolean } => {
  let node = root
  for (const key of pointerKeys(pointer)) {
    const next = isList(node) ? node[Number(key)] : isMap(node) ? memberAt(node, key) : undefined
    if (next === undefined) return { node, isReached: false }
    node = next
  }
  return { node, isReached: true }
}
