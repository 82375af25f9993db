// Defines how a request ended, and the operation that it ended at, as metrics, logs and traces are given them.

import type { CompiledAction } from '../../language/compile/action.ts'
import type { FailingPlace } from '../../language/expression/errors.ts'
import type { RefusingPlace } from '../../language/failing-place.ts'
import type { RequestFailure } from '../actions/request-failure.ts'
import type { DecisionStep } from '../decisions/decision.ts'
import type { GatewayErrorCode, TokenRefusal } from '../gateway-error.ts'
import type { ServedVersion } from '../served.ts'

export interface Settlement {
  readonly status: number
  /** The length of the body. */
  readonly bytes: number
  /** The gateway responded with an error record of this code. */
  readonly refusal?: GatewayErrorCode
  /** What has refused it, where that is one of the list of steps. */
  readonly step?: DecisionStep | undefined
  /** The action failed with this URI, which the gateway or the document names. */
  readonly failure?: string
  /** Why it failed, whatever the document made of it. */
  readonly why?: RequestFailure
  /** Why the token of the caller was refused. */
  readonly token?: TokenRefusal
  /** What of the document refused the request: finding it takes long, and happens only for what is recorded. */
  readonly place?: RefusingPlace
}

/** A status that is counted, never sent: nginx uses it for a client that did not wait for the response. */
export const CLIENT_WENT_AWAY = 499

/** The operation that served a request, as far as it is known. */
export interface TracedOperation {
  readonly version: ServedVersion
  /** The document's pattern, with the `base_path`. */
  readonly template: string
  readonly action: CompiledAction['type'] | 'endpoint' | 'ws'
  /** JSON pointer into the document of what refused a request; if left out, only a place that has its own is known. */
  readonly pointerOf?: (place: FailingPlace) => string | undefined
}
