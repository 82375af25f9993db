// Lists the parts of the context that a compiled operation reads, so that the others are never computed.

import type { CompiledOperation, ContextRead } from './compiled.ts'
import { collectReads } from './expression/reads.ts'
import { mapTemplates } from './map-templates.ts'

/** Sorted, unique. What a forward takes from the request by itself counts as well. */
export const operationReads = (operation: CompiledOperation): readonly ContextRead[] => {
  const reads = new Set<ContextRead>()
  mapTemplates(operation, (template) => {
    collectReads(template, reads)
    return template
  })
  const { action } = operation
  if (action.type === 'forward') {
    if (action.path === undefined) reads.add('request.path')
    if (action.queryString === undefined) reads.add('request.query_string')
  }
  return [...reads].sort()
}
