// Compiles `wamp_websocket` of a version: whether `/ws` is served, and who may open it. It warns of a version whose paths ask
// for credentials while its WebSocket does not, as its author may not know of it.

import { childPointer } from '../../base/json-pointer.ts'
import { ownValue } from '../expression/lookup.ts'
import { isMap, type ValueMap } from '../expression/value.ts'
import { webSocketPath } from '../routes/path-pattern.ts'
import { foldInScope } from './bind-status-codes.ts'
import { type PathResult, inheritedSecurity, type VersionDeps } from './path.ts'
import { type CompiledSecurity, isAnonymous } from './security.ts'

export interface VersionWebSocket {
  /** undefined: `/ws` is not served, or a problem was reported. */
  readonly security: CompiledSecurity | undefined
  /** The document says who may open it, be it anybody. */
  readonly isDecided: boolean
}

/** @param inherited what it has without a `security` of its own: that of a path which sets none */
export const compileWebSocket = (
  version: ValueMap,
  pointer: string,
  inherited: VersionWebSocket,
  deps: VersionDeps,
): VersionWebSocket => {
  const own = ownValue(version, 'wamp_websocket')
  if (own === false) return { security: undefined, isDecided: true }
  const security = isMap(own) ? ownValue(own, 'security') : undefined
  if (security === undefined) return inherited
  const place = childPointer(childPointer(pointer, 'wamp_websocket'), 'security')
  const template = foldInScope(security, place, deps.scope, deps.diagnostics)
  const placed = { template, pointer: place }
  return { security: inheritedSecurity(placed, deps), isDecided: true }
}

export const warnOfOpenWebSocket = (
  { isDecided }: VersionWebSocket,
  version: VersionDeps,
  results: readonly PathResult[],
): void => {
  const { basePath, realm, diagnostics } = version
  if (isDecided || realm?.hasWebSocket !== true || basePath === undefined) return
  const [first, ...others] = results.flatMap(({ path, security }) =>
    path === undefined || security === undefined || isAnonymous(security) ? [] : [path],
  )
  if (first === undefined) return
  const more = others.length === 0 ? '' : ` and ${others.length} more`
  diagnostics.warning(
    'OpenWebSocket',
    childPointer(first.pointer, 'security'),
    `this protects '${first.template}'${more}, but not the WebSocket at '${webSocketPath(basePath.source).template}', ` +
      "which anybody may open: set 'wamp_websocket: false' in the version, or 'wamp_websocket: {security: …}' ('security: {}' there says that it is meant to be open)",
  )
}
