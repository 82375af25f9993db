// Defines the messages between the primary of a cluster and its workers. They are sent by structured clone, so that
// bytes stay bytes.

import type { RouteExplanation } from '../../../language/explain/explanation.ts'
import type { ReadRequest } from '../../../language/explain/read-request.ts'
import type { Address } from '../../../telemetry/settings-table.ts'
import type { MetricsState } from '../../../telemetry/metrics-state.ts'
import type { RequestCounts } from '../../../telemetry/request-counts.ts'
import type { DurableName } from './process-status.ts'
import type { GatewaySettings } from '../../config.ts'
import type { FailureQuery, KeptFailure } from '../../decisions/decision-ring.ts'
import type { ListenerName } from '../../listen/listeners.ts'
import type { SecretRings } from '../security-state.ts'
import type { RealmCredential } from '../../credentials/watch-credentials.ts'
import type { RealmProvider } from '../../oidc/provider/watch-providers.ts'
import type { RevokedEntry, SharedCall, SharedReply } from '../../shared/relayed-state.ts'
import type { SharedHealth } from '../../shared/shared-state.ts'
import type { ServingChange } from '../../store/serving.ts'
import type { EndpointsChange } from '../../upstream/endpoints/service-directory.ts'
import type { UpstreamsView } from '../../upstream/upstream-view.ts'
import type { RealmBridgeStatus } from '../../wamp/realm/wamp-client.ts'

/** Tasks are answered by `done` or `failed` with the same `task`; a worker performs one after the other. */
export type ToWorker =
  | {
      readonly kind: 'start'
      readonly task: number
      readonly settings: GatewaySettings
      readonly rings: SecretRings
    }
  | { readonly kind: 'apply'; readonly task: number; readonly change: ServingChange }
  | { readonly kind: 'listen'; readonly task: number; readonly at: Addresses }
  | { readonly kind: 'announce'; readonly task: number; readonly urls: readonly string[] }
  /** Answered by `metrics` immediately: a scrape does not wait for a load. */
  | { readonly kind: 'measure'; readonly task: number }
  /** Likewise, answered by `upstreams`. */
  | { readonly kind: 'view upstreams'; readonly task: number; readonly isDetailed: boolean }
  /** Likewise, answered by `decisions`. */
  | { readonly kind: 'find decisions'; readonly task: number; readonly id: string }
  /** Likewise, answered by `failures`. */
  | { readonly kind: 'find failures'; readonly task: number; readonly query: FailureQuery }
  /** Likewise, answered by `explained`. */
  | { readonly kind: 'explain'; readonly task: number; readonly request: ReadRequest }
  /** Likewise, answered by `released`: the worker releases it if it has it. */
  | { readonly kind: 'release'; readonly task: number; readonly name: DurableName }
  /** Immediately answered by `known`: a revocation is confirmed only when every worker knows it. */
  | { readonly kind: 'revoked'; readonly task: number; readonly entries: readonly RevokedEntry[] }
  /** Immediately answered by `known`: a change of Pods does not wait for a load. */
  | { readonly kind: 'endpoints'; readonly task: number; readonly change: EndpointsChange }
  /** Answers the worker's own `shared`. */
  | { readonly kind: 'shared'; readonly ask: number; readonly reply: SharedReply }
  /** Answers the worker's own `release`. */
  | { readonly kind: 'released'; readonly ask: number; readonly found: boolean }
  | { readonly kind: 'drain' | 'release clients' | 'close' | 'abort' }

export type ToPrimary =
  | { readonly kind: 'done'; readonly task: number; readonly addresses?: Addresses }
  | {
      readonly kind: 'failed'
      readonly task: number
      readonly message: string
      /** An address is not available: the message is one line for the person who starts the gateway. */
      readonly isStartError: boolean
    }
  | {
      readonly kind: 'metrics'
      readonly task: number
      /** All but those of requests. */
      readonly state: MetricsState
      /** Since the last such message: each is added, also one that comes late. */
      readonly requests: RequestCounts
    }
  | { readonly kind: 'upstreams'; readonly task: number; readonly view: UpstreamsView | undefined }
  /** JSON texts of `Decision`. */
  | { readonly kind: 'decisions'; readonly task: number; readonly texts: readonly string[] }
  | {
      readonly kind: 'failures'
      readonly task: number
      readonly failures: readonly KeptFailure[]
    }
  /** undefined: it does not serve yet. */
  | {
      readonly kind: 'explained'
      readonly task: number
      readonly explanation: RouteExplanation | undefined
    }
  | { readonly kind: 'released'; readonly task: number; readonly found: boolean }
  | { readonly kind: 'known'; readonly task: number }
  /** An operation on what all workers share; answered by `shared` with the same `ask`. */
  | { readonly kind: 'shared'; readonly ask: number; readonly call: SharedCall }
  /** Sent when the sessions with routers, or the registrations and subscriptions for callbacks, have changed. */
  | { readonly kind: 'bridge'; readonly status: readonly RealmBridgeStatus[] }
  /** Sent when this worker can or cannot reach the shared state. */
  | { readonly kind: 'health'; readonly health: SharedHealth }
  /** Sent when other identity providers fail than before. */
  | { readonly kind: 'providers'; readonly failing: readonly RealmProvider[] }
  | { readonly kind: 'credentials'; readonly failing: readonly RealmCredential[] }
  /** Asks to have it released by the worker that has it; answered by `released` with the same `ask`. */
  | { readonly kind: 'release'; readonly ask: number; readonly name: DurableName }

/** The addresses of the public listeners; in `listen`, those to use instead of the ones in the settings. */
export type Addresses = Readonly<Partial<Record<ListenerName, Address>>>
