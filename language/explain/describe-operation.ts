// Describes a compiled operation as data for people: security, limits, headers, action and responses, with everything
// inherited and folded. Names are those of documents.

import { actionResponse } from '../action-response.ts'
import type { CompiledSecurity } from '../compile/security.ts'
import type { CompiledOperation, ContentType } from '../compiled.ts'
import type { Method } from '../document.ts'
import type { Value, ValueMap } from '../expression/value.ts'
import { mapTemplates } from '../map-templates.ts'
import type { WriteTemplate } from './write-template.ts'

export interface OperationDescription {
  readonly method: Method
  /** JSON pointer into the document. */
  readonly pointer: string
  readonly security: ValueMap
  readonly accepts: readonly ContentType[]
  readonly provides: readonly ContentType[]
  readonly limits: ValueMap
  readonly action: ValueMap & { readonly type: string }
  /** Of the response, where the action succeeds: as `on_result`, the action and the path have them. */
  readonly response_headers: Value
  /** null: the document has none, so that the action's result responds. */
  readonly on_result: ValueMap | null
  readonly on_error: ValueMap | null
}

export const describeOperation = (
  method: Method,
  operation: CompiledOperation,
  write: WriteTemplate,
): OperationDescription => {
  const headers = operation.onResult.headers ?? actionResponse(operation).headers
  const written = mapTemplates(operation, write)
  const { limits, body, action, onResult, onError } = written
  return {
    method,
    pointer: operation.pointer,
    security: describeSecurity(operation.security),
    accepts: operation.accepts,
    provides: operation.provides,
    limits: {
      ...withDocumentNames({ ...limits }),
      body_max_bytes: body.maxBytes,
      body_read_bytes: body.readBytes,
      body_read_ms: body.readMs,
    },
    action: { ...withDocumentNames({ ...action }), type: action.type },
    response_headers: headers === undefined ? written.headers : write(headers),
    on_result: responseOf(onResult),
    on_error: responseOf(onError),
  }
}

type Response = CompiledOperation<Value>['onResult']

const responseOf = ({ declared, ...members }: Response): ValueMap | null =>
  declared ? withDocumentNames({ ...members }) : null

/** Nothing of it is secret: names of groups, roles, scopes and providers stand in the document. */
export const describeSecurity = (security: CompiledSecurity): ValueMap =>
  security.type === 'anonymous' ? { type: 'none' } : withDocumentNames({ ...security })

const OTHER_NAMES: ReadonlyMap<string, string> = new Map([['method', 'http_method']])

/** `queryString` → `query_string`. */
const withDocumentNames = (members: Readonly<Record<string, unknown>>): ValueMap =>
  Object.fromEntries(
    Object.entries(members)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [
        OTHER_NAMES.get(name) ?? name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
        value as Value,
      ]),
  )
