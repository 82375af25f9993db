// Turns an operation of an OpenAPI description into one of a document: a forward, with schemas and examples.

import { childPointer } from '../../base/json-pointer.ts'
import { ownValue } from '../../language/expression/lookup.ts'
import { textAt } from '../../language/expression/members.ts'
import { isList, isMap, type Value, type ValueMap } from '../../language/expression/value.ts'
import { convertBody, convertResponses, type OperationPlaces } from './convert-body.ts'
import { convertExamples } from './convert-examples.ts'
import { parameterSchemas, parametersOf } from './convert-parameters.ts'
import type { ConvertedPath } from './convert-path.ts'
import type { Loose } from './convert-schema.ts'
import type { Description, Drop } from './description.ts'

export interface OperationSource extends OperationPlaces {
  readonly path: ConvertedPath
  /** Security of the path, {} for none. */
  readonly security: Value
}

const INFO = ['summary', 'description', 'operationId', 'tags', 'externalDocs']
const KEPT: ReadonlySet<string> = new Set([
  ...INFO,
  ...'parameters requestBody responses security consumes produces'.split(' '),
])

export const convertOperation = (
  description: Description,
  source: OperationSource,
  drop: Drop,
): ValueMap => {
  const { item, operation, path, security } = source
  for (const name of Object.keys(operation.value))
    if (!KEPT.has(name))
      drop(childPointer(operation.pointer, name), 'operations have no such member')
  const credentials = credentialHeaders(security)
  const parameters = parametersOf(description, [item, operation], path.bindings, drop).filter(
    ({ entry, name }) => entry !== 'headers' || !credentials.includes(name),
  )
  const { schema: body, example } = convertBody(description, source, drop)
  const { result, examples: responses } = convertResponses(description, source, drop)
  const schemas = {
    ...parameterSchemas(description, parameters, drop),
    ...(body !== undefined && { body }),
    ...(result !== undefined && { result }),
  }
  const bindings = [...path.bindings.values()]
  const examples = convertExamples(
    description,
    { parameters, bindings, body: example, schemas, security, responses },
    drop,
  )
  return {
    ...unlessEmpty('info', infoOf(operation.value)),
    ...unlessEmpty('schema', schemas),
    ...unlessEmpty('examples', examples),
    action: { type: 'forward', host: '{{variables.upstream}}' },
  }
}

/** Schemas do not see the credentials that the gateway checks. */
const credentialHeaders = (security: Value): readonly string[] =>
  (isList(security) ? security : [security]).map((each) =>
    isMap(each) ? textAt(each, 'header_name') : '',
  )

const infoOf = (operation: ValueMap): ValueMap => {
  const info: Loose = {}
  for (const name of INFO) {
    const value = ownValue(operation, name)
    if (value !== undefined) info[name] = value
  }
  return info
}

const unlessEmpty = (name: string, map: ValueMap): ValueMap =>
  Object.keys(map).length === 0 ? {} : { [name]: map }
