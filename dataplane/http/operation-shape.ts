// Defines what requests read of a prepared operation apart from its texts.

import type { PlainParts } from '../../language/compile/operation-part.ts'
import type { CompiledSecurity } from '../../language/compile/security.ts'
import type { CompiledOperation, StatusCodes } from '../../language/compile/compiled.ts'
import type { ContentType } from '../../language/routes/negotiate.ts'
import type { Method } from '../../language/document.ts'
import type { ServedVersion } from '../served.ts'
import type { ResultCheck } from './result-check.ts'
import type { PreparedLimits } from './rate-limits/prepare-limits.ts'
import type { RequestNeeds } from './request/view.ts'
import type { HeaderWriter } from './response/headers.ts'
import type { HeadCache } from './response/own-headers.ts'

export type Guard = CompiledSecurity

/**
 * What requests read of an operation apart from its texts: equal ones are one object, which stays in the processor's
 * cache whatever document is asked for. What the document says of the operation and is known at load is here by itself.
 */
export interface OperationShape extends PlainParts {
  readonly method: Method
  /** How clients must authenticate; undefined: not at all, as for every OPTIONS (behaviour §3). */
  readonly guard: Guard | undefined
  /** undefined: none. */
  readonly rateLimits: PreparedLimits | undefined
  /** Browsers send its credentials by themselves, whatever page asks. */
  readonly isForgeable: boolean
  /** `provides`: JSON, msgpack, then types that the document sets itself. */
  readonly offers: readonly ContentType[]
  /** False where an upstream's body passes through unread: it is what it is. */
  readonly checksAccept: boolean
  readonly needs: RequestNeeds
  /** The body goes to an upstream as it came, unless a template reads it. */
  readonly forwardsBody: boolean
  readonly headers: HeaderWriter
  /** `on_result` has headers: of a response that passes through only its framing is kept beside them. */
  readonly replacesHeaders: boolean
  /** Some template reads the outcome of the action. */
  readonly readsAction: boolean
  /** Its response may be a stream of events. */
  readonly hasEvents: boolean
  /** `on_error` has headers. */
  readonly replacesErrorHeaders: boolean
  /** It has an `on_error` with something in it: an empty one stands for the error record. */
  readonly hasOnError: boolean
  /** Its upstream may open a WebSocket with the client. */
  readonly takesWebSocket: boolean
  readonly action: CompiledOperation['action']['type']
  /** The `status_code` of the result is the status, where the document sets none. */
  readonly givesStatus: boolean
  /** The response is the same for every request: it is rendered once per content type. */
  readonly isFixed: boolean
  /** Value of `Vary`: what the response is negotiated by. */
  readonly vary: string | undefined
  readonly headCache: HeadCache
  /** How results are checked; undefined: nothing describes them. */
  readonly resultCheck: ResultCheck | undefined
  /** The languages of the version. */
  readonly languages: readonly string[]
  readonly deprecation: ServedVersion['deprecation']
  readonly statusCodes: StatusCodes
}
