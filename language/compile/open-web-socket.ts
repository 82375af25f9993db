// Warns of a version whose paths ask for credentials while its WebSocket does not, as its author may not know of it.

import { childPointer } from '../../base/json-pointer.ts'
import { webSocketPath } from '../routes/path-pattern.ts'
import type { PathResult, VersionDeps } from './path.ts'

export interface WebSocketFacts {
  readonly isActive: boolean
  /** The version has or inherits `security`, be it an empty one. */
  readonly hasSecurity: boolean
  readonly version: VersionDeps
}

export const warnOfOpenWebSocket = (
  { isActive, hasSecurity, version }: WebSocketFacts,
  results: readonly PathResult[],
): void => {
  const { basePath, realm, diagnostics } = version
  if (!isActive || hasSecurity || realm?.hasWebSocket !== true || basePath === undefined) return
  const [first, ...others] = results.flatMap(({ path, security }) =>
    path === undefined || security === undefined || security.type === 'anonymous' ? [] : [path],
  )
  if (first === undefined) return
  const more = others.length === 0 ? '' : ` and ${others.length} more`
  diagnostics.warning(
    'OpenWebSocket',
    childPointer(first.pointer, 'security'),
    `this protects '${first.template}'${more}, but not the WebSocket at '${webSocketPath(basePath.source).template}', ` +
      "which anybody may open: set 'security' of the version, beside its paths ('security: {}' there says that it is meant to be open)",
  )
}
