// Reads AdmissionReviews of admission.k8s.io/v1 from unknown values, and builds the responses to them.

import { mapAt, memberAt, textAt } from '../../language/expression/members.ts'
import { isMap, type ValueMap } from '../../language/expression/value.ts'

export interface AdmissionRequest {
  readonly uid: string
  readonly group: string
  readonly kind: string
  /** `CREATE`, `UPDATE`, `DELETE`, `CONNECT`. */
  readonly operation: string
  /** `status`, …; empty: the object itself. */
  readonly subResource: string
  readonly namespace: string
  /** Empty where the API server has yet to generate it. */
  readonly name: string
  /** The field manager of the client; `kubectl` is server-side, `kubectl-client-side-apply` is not. */
  readonly fieldManager: string
  /** Nothing may be written for it. */
  readonly isDryRun: boolean
  readonly object: ValueMap | undefined
  readonly oldObject: ValueMap | undefined
}

export type AdmissionResponse =
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
      /** For machines; a part of them where there are many. */
      readonly causes: readonly AdmissionCause[]
    }

export interface AdmissionCause {
  readonly reason: string
  readonly message: string
  /** JSON pointer into the object. */
  readonly field: string
}

const API_VERSION = 'admission.k8s.io/v1'

/** Undefined: this is not an AdmissionReview that we know how to answer. */
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

export const reviewResponse = (
  { uid, kind, group, name }: AdmissionRequest,
  response: AdmissionResponse,
): object => ({
  apiVersion: API_VERSION,
  kind: 'AdmissionReview',
  response: {
    uid,
    allowed: response.allowed,
    ...(response.warnings.length > 0 && { warnings: response.warnings }),
    ...(response.allowed &&
      response.patch !== undefined && {
        patchType: 'JSONPatch',
        patch: Buffer.from(JSON.stringify(response.patch)).toString('base64'),
      }),
    ...(!response.allowed && {
      status: {
        status: 'Failure',
        code: 422,
        message: response.message,
        details: { name, group, kind, causes: response.causes },
      },
    }),
  },
})
