// Describes a compiled operation as data for people: what it inherits, action and responses, all of it folded. Names are
// those of documents.

import { actionResponse } from '../compile/action.ts'
import { describeParts } from '../compile/operation-parts.ts'
import type { CompiledOperation } from '../compile/compiled.ts'
import type { Method } from '../document.ts'
import { withDocumentNames } from '../document-names.ts'
import { mapAt } from '../expression/members.ts'
import type { Value, ValueMap } from '../expression/value.ts'
import { mapTemplates } from '../compile/map-templates.ts'
import type { WriteTemplate } from './write-template.ts'

export interface DescribedOperation {
  readonly method: Method
  /** JSON pointer into the document. */
  readonly pointer: string
  readonly security: ValueMap
  readonly action: ValueMap & { readonly type: string }
  /** The headers of the response, where the action succeeds: as `on_result`, the action and the path have them. */
  readonly response_headers: Value
  /** null: the document has none, so that the action's result responds. */
  readonly on_result: ValueMap | null
  readonly on_error: ValueMap | null
}

/** With what else it inherits: `accepts`, `limits`, … */
export type OperationDescription = DescribedOperation & ValueMap

export const describeOperation = (
  method: Method,
  operation: CompiledOperation,
  write: WriteTemplate,
): OperationDescription => {
  const headers = operation.onResult.headers ?? actionResponse(operation).headers
  const written = mapTemplates(operation, write)
  const { action, onResult, onError } = written
  const parts = describeParts('operation', written)
  return {
    method,
    pointer: operation.pointer,
    ...parts,
    security: mapAt(parts, 'security'),
    action: { ...withDocumentNames({ ...action }), type: action.type },
    response_headers: headers === undefined ? written.headers : write(headers),
    on_result: responseOf(onResult),
    on_error: responseOf(onError),
  }
}

type Response = CompiledOperation<Value>['onResult']

const responseOf = ({ declared, ...members }: Response): ValueMap | null =>
  declared ? withDocumentNames({ ...members }) : null
