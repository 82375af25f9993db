// Defines the options of dispatch: what one listener's requests are matched, served, authenticated and recorded with.

import type { RouteTable } from '../../language/router/route-table.ts'
import type { IsScarce } from '../least-rate.ts'
import type { MountedVersion } from '../served.ts'
import type { Turns } from '../turns.ts'
import type { AuthenticationOptions } from './authenticate-request.ts'
import type { BuiltinOptions, EndpointHandler } from './builtin/builtin-request.ts'
import type { Preparation, Served } from './prepared-operation.ts'
import type { RealmOrigins } from './realm-origins.ts'
import type { ReadClient } from './request/forwarded.ts'
import type { EventStreams } from './sse/registry.ts'
import type { WebSocketRoutes } from './upgrade/web-socket-route.ts'

export interface DispatchOptions extends AuthenticationOptions, BuiltinOptions {
  readonly table: () => RouteTable<Served, MountedVersion>
  /** Whether an operator owns this gateway and has never sent anything; if left out, never. */
  readonly isAwaitingOperator?: () => boolean
  readonly preparation: Preparation
  /** Handles requests for built-in endpoints; if left out, there are none. */
  readonly endpoints?: EndpointHandler
  /** The origins whose pages may open WebSockets with the credentials of a realm. */
  readonly origins: (realmUri: string) => RealmOrigins
  /** Finds the paths of WebSocket connections, so that plain requests to them get 426; if left out, there are none. */
  readonly webSockets?: WebSocketRoutes
  /** `--base-url`: the URL that clients reach the gateway by. */
  readonly baseUrl?: string | null | undefined
  readonly readClient: ReadClient
  readonly nextRequestId: () => string
  /** The registry of open event streams; if left out, each listener has its own. */
  readonly eventStreams?: EventStreams
  /** Turns of what takes long; if left out, each listener has its own. */
  readonly turns?: Turns | undefined
  /** Whether memory or connections are short; if left out, never. */
  readonly isScarce?: IsScarce | undefined
}
