// Decides which request rows of the metrics to keep after a change of what is served: those of removed documents or
// paths only fill the bound of rows.

import { METHODS } from '../../language/document.ts'
import { endpointRoutes } from '../../language/routes/endpoint-routes.ts'
import { mountPath, webSocketPath } from '../../language/routes/path-pattern.ts'
import type { RequestLabels } from '../../telemetry/request-metrics.ts'
import type { ServingChange } from '../store/serving.ts'

/** @example requests.prune(rowsToKeep(change)) */
export const rowsToKeep = (change: ServingChange): ((labels: RequestLabels) => boolean) => {
  const served = new Map<string, ReadonlySet<string>>()
  for (const id of change.remove) served.set(id, new Set())
  for (const { id, versions } of change.put) {
    const keys = versions.flatMap(({ name, basePath, paths, endpoints }) => [
      keyOf({ version: name, path: webSocketPath(basePath).template, method: 'GET' }),
      ...endpointRoutes(endpoints).flatMap(({ path, methods }) =>
        methods.map((method) =>
          keyOf({
            version: name,
            path: mountPath(basePath, path).template,
            method: method.toUpperCase(),
          }),
        ),
      ),
      ...paths.flatMap(({ template, operations }) =>
        METHODS.filter((method) => operations[method] !== undefined).map((method) =>
          keyOf({ version: name, path: template, method: method.toUpperCase() }),
        ),
      ),
    ])
    served.set(id, new Set(keys))
  }
  return (labels) => served.get(labels.api)?.has(keyOf(labels)) ?? true
}

const keyOf = ({ version, path, method }: Omit<RequestLabels, 'api'>): string =>
  `${method} ${path} ${version}`
