// Lists the parts of the context that a compiled operation reads, so that the others are never computed.

import { ownReads } from './action.ts'
import { type CompiledOperation, SCHEMA_ENTRIES } from './compiled.ts'
import { collectReads, type ContextRead } from '../expression/reads.ts'
import { mapTemplates } from './map-templates.ts'

/** Sorted, unique. What the action takes from the request by itself counts as well, and what a JSON Schema describes. */
export const operationReads = (operation: CompiledOperation): readonly ContextRead[] => {
  const { schema = {} } = operation
  const described = SCHEMA_ENTRIES.filter((entry) => schema[entry] !== undefined)
  const reads = new Set<ContextRead>([
    ...ownReads(operation.action),
    ...described.map((entry) => `request.${entry}` as const),
  ])
  mapTemplates(operation, (template) => {
    collectReads(template, reads)
    return template
  })
  return [...reads].sort()
}
