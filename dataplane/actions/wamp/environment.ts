// Defines what WAMP actions need from outside, for one version of one document.

import type { Limiter } from '../../../base/limiter.ts'
import type { SpanOf } from '../../request-spans.ts'
import type { Deadlines } from '../../deadlines.ts'
import type { RetryClock } from '../../upstream/retry.ts'
import type { WampClient } from '../../wamp/realm/wamp-client.ts'
import type { CallbackPoster } from './callback/poster.ts'
import type { CallbackRules } from './callback/url.ts'

export interface WampEnvironment {
  readonly realmUri: string
  /**
   * From the current version of the document: the namespace that its callbacks may not leave for another one of the
   * cluster.
   */
  readonly confinedTo?: () => string | undefined
  /** The client of the version's realm; called for each request, also when the realm was removed. */
  readonly client: () => WampClient
  /** The version's limiter: bounds by its `pool_size` what all its operations have in progress; nothing waits for a permit. */
  readonly calls: Limiter
  /** The realm's call timeout: the `timeout` of operations that set none. */
  readonly callTimeoutMs: () => number
  /** One deadline list for all calls of the process. */
  readonly deadlines: Deadlines
  /** One for all callbacks of the process. */
  readonly callbacks: CallbackPoster
  /** The current rules of the realm: who may be called back, and what signs. undefined: the realm was removed. */
  readonly realm: () => CallbackRules | undefined
  /** For tests: the clock and random source of retries. */
  readonly clock?: RetryClock
  /** If requests are traced. */
  readonly spanOf?: SpanOf | undefined
}
