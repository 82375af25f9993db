// Keeps the metrics of requests in line with what is served: rows of removed documents and paths only fill their bound,
// and the resource of a document may be another one.

import { once } from '../../base/once.ts'
import { endpointRoutes } from '../../language/compile/endpoint-routes.ts'
import { mountPath, webSocketPath } from '../../language/routes/path-pattern.ts'
import type { RequestLabels } from '../../telemetry/request-counts.ts'
import type { RequestMetrics } from '../../telemetry/request-metrics.ts'
import type { PackedDocument } from '../store/packed/packed-document.ts'
import type { ServingChange } from '../store/serving.ts'

/** The cost is that of what has changed. */
export const followDocuments = (
  requests: Pick<RequestMetrics, 'replace' | 'remove'>,
  { put, remove }: Pick<ServingChange, 'put' | 'remove'>,
): void => {
  for (const id of remove) requests.remove(id)
  for (const document of put) {
    // Made for documents that were called.
    const keys = once(() => keysOf(document))
    requests.replace(document.id, document.resource, (labels) => keys().has(keyOf(labels)))
  }
}

const keysOf = ({ versions }: PackedDocument): ReadonlySet<string> => {
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
    ...paths.flatMap(({ template, methods }) =>
      methods.map((method) =>
        keyOf({ version: name, path: template, method: method.toUpperCase() }),
      ),
    ),
  ])
  return new Set(keys)
}

const keyOf = ({ version, path, method }: Omit<RequestLabels, 'api'>): string =>
  `${method} ${path} ${version}`
