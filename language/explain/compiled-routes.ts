// Builds the route table that a gateway with these compiled documents would have, for explaining requests where there is
// no gateway.

import type { CompiledApi, CompiledPath, CompiledVersion } from '../compile/compiled.ts'
import { type Method, METHODS } from '../document.ts'
import type { Route } from '../router/route.ts'
import { edit, emptyTable } from '../router/route-table.ts'
import { endpointRoutes } from '../compile/endpoint-routes.ts'
import { mountPath, webSocketPath } from '../routes/path-pattern.ts'
import type {
  ExplainedEndpoint,
  ExplainedPath,
  ExplainedSlot,
  ExplainedVersion,
  ExplainedWebSocket,
  ServedRoutes,
} from './explain-route.ts'

type Table = ServedRoutes<ExplainedPath, ExplainedEndpoint>['table']

/** Inactive versions are left out. All documents count as of one age. */
export const compiledRoutes = (documents: readonly CompiledApi[]): Table => {
  const editor = edit<ExplainedPath | ExplainedEndpoint, ExplainedWebSocket>(emptyTable())
  for (const document of documents) {
    const { id, hosts, realmUri } = document
    const versions = document.versions
      .filter(({ isActive }) => isActive)
      .map((version) => ({ version, facts: { apiId: id, name: version.name, realmUri } }))
    editor.put({
      id,
      hosts,
      rank: 0,
      since: 0,
      routes: versions.flatMap(({ version, facts }) => routesOf(version, facts)),
      webSockets: versions.flatMap(({ version, facts }) => webSocketsOf(version, facts)),
    })
  }
  return editor.done()
}

const routesOf = (
  { paths, endpoints, basePath, schemes }: CompiledVersion,
  version: ExplainedVersion,
): readonly Route<ExplainedPath | ExplainedEndpoint>[] => [
  ...paths.map((path) => ({ patterns: path.patterns, target: pathTarget(path, version) })),
  ...endpointRoutes(endpoints).map((route) => {
    const { template, patterns } = mountPath(basePath, route.path)
    return {
      patterns,
      target: { kind: 'endpoint' as const, version, template, schemes, route },
    }
  }),
]

const pathTarget = (path: CompiledPath, version: ExplainedVersion): ExplainedPath => {
  const { template, schemes, operations } = path
  const slots: Partial<Record<Method, ExplainedSlot>> = {}
  for (const method of METHODS) {
    const operation = operations[method]
    if (operation !== undefined) slots[method] = { method, load: () => operation }
  }
  return { kind: 'path', version, template, schemes, operations: slots, loadParts: () => path }
}

const webSocketsOf = (
  { basePath, security, schemes }: CompiledVersion,
  version: ExplainedVersion,
): readonly Route<ExplainedWebSocket>[] => {
  const { template, patterns } = webSocketPath(basePath)
  return [{ patterns, target: { version, template, security, schemes } }]
}
