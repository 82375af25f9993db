// Refuses JSON Schemas that depend on the value of a Secret: they are shown to people, and what they refuse would tell it.

import { childPointer } from '../../base/json-pointer.ts'
import { oncePer } from '../../base/once.ts'
import type { Value } from '../expression/value.ts'
import { canonicalText } from '../json-schema/canonical-text.ts'
import type { CompiledApi, CompiledOperation, CompiledSchemas } from './compiled.ts'
import type { Diagnostics } from './diagnostics.ts'

export const hasSchemas = (api: CompiledApi): boolean =>
  operationsOf(api).some(({ schema }) => schema !== undefined)

/** @param shown the same document, compiled without the values of its Secrets */
export const refuseSecretSchemas = (
  api: CompiledApi,
  shown: CompiledApi,
  diagnostics: Diagnostics,
): void => {
  const known = new Map(operationsOf(shown).map(({ pointer, schema }) => [pointer, schema]))
  for (const { pointer, schema = {} } of operationsOf(api))
    for (const [entry, value] of Object.entries(schema) as [keyof CompiledSchemas, Value][]) {
      const other = known.get(pointer)?.[entry]
      if (value === other || (other !== undefined && textOf(value) === textOf(other))) continue
      diagnostics.problem(
        'invalid_value',
        childPointer(childPointer(pointer, 'schema'), entry),
        'a schema must not depend on the value of a Secret: write it out, or take it from a variable of the document',
      )
    }
}

const operationsOf = ({ versions }: CompiledApi): readonly CompiledOperation[] =>
  versions.flatMap(({ paths }) => paths.flatMap(({ operations }) => Object.values(operations)))

const writtenOf = oncePer((schema: object) => ({ text: canonicalText(schema as Value) }))

/** Operations share schemas. */
const textOf = (schema: Value): string =>
  typeof schema === 'object' && schema !== null ? writtenOf(schema).text : String(schema)
