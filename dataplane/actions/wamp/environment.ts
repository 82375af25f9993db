// What WAMP actions reach of the world, for one version of one document. Whoever wires the gateway
// hands it in; nothing here does anything.

import type { Limiter } from '../../../base/limiter.ts'
import type { SpanOf } from '../../request-spans.ts'
import type { LimitPolicy } from '../../limit-policy.ts'
import type { Deadlines } from '../../deadlines.ts'
import type { RetryClock } from '../../upstream/retry.ts'
import type { WampClient } from '../../wamp/realm/wamp-client.ts'
import type { CallbackPoster } from './callback/poster.ts'
import type { CallbackRules } from './callback/url.ts'

export interface WampEnvironment {
  readonly realmUri: string
  /** The document as it is now: the namespace where its callbacks may reach no other of the cluster. */
  readonly confinedTo?: () => string | undefined
  /** Of the version's realm; asked for at each request, also when the realm is gone. */
  readonly client: () => WampClient
  /** Of the version: bounds by its `pool_size` what all its operations have under way; nobody waits for a permit. */
  readonly calls: Limiter
  /** The realm's call timeout: the `timeout` of operations that set none. */
  readonly callTimeoutMs: () => number
  /** One wheel for all calls of the process. */
  readonly deadlines: Deadlines
  /** One for all callbacks of the process. */
  readonly callbacks: CallbackPoster
  /** The realm as it is now: who may be called back, and what signs. undefined: it is gone. */
  readonly realm: () => CallbackRules | undefined
  /** Which limits only report; all are enforced if left out. */
  readonly limits?: LimitPolicy
  /** For tests: the clock and dice of retries. */
  readonly clock?: RetryClock
  /** Where there are traces. */
  readonly spanOf?: SpanOf | undefined
}
