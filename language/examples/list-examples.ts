// Lists the examples of a document, beside the operations that serve them.

import { childPointer, pointerKeys } from '../../base/json-pointer.ts'
import type { CompiledApi } from '../compile/compiled.ts'
import { METHODS } from '../document.ts'
import { ownValue } from '../expression/lookup.ts'
import { isMap, type Value } from '../expression/value.ts'
import type { Example, PlacedExample, PlacedOperation } from './example.ts'

/**
 * In the order of the document; none of a version that is not active, nor of an operation that an expression gives.
 * @param document valid: it is the one that was compiled
 */
export const listExamples = (
  document: unknown,
  compiled: CompiledApi,
): readonly (PlacedOperation & { readonly examples: readonly PlacedExample[] })[] =>
  operationsOf(compiled).map((placed) => ({ ...placed, examples: examplesOf(document, placed) }))

const operationsOf = (api: CompiledApi): readonly PlacedOperation[] =>
  api.versions
    .filter(({ isActive }) => isActive)
    .flatMap(({ paths }) =>
      paths.flatMap((path) =>
        METHODS.flatMap((method) => {
          const operation = path.operations[method]
          // The OpenAPI description stands at its own path, and takes no examples.
          const isWritten = operation !== undefined && operation.pointer !== path.pointer
          return isWritten ? [{ api, path, method, operation }] : []
        }),
      ),
    )

const examplesOf = (document: unknown, placed: PlacedOperation): readonly PlacedExample[] => {
  const { pointer } = placed.operation
  const examples = ownValue(valueAt(document, pointer), 'examples')
  if (!isMap(examples)) return []
  return Object.entries(examples).map(([name, example]) => ({
    ...placed,
    name,
    pointer: childPointer(childPointer(pointer, 'examples'), name),
    // The schema of documents describes it.
    example: example as unknown as Example,
  }))
}

const valueAt = (document: unknown, pointer: string): Value | undefined =>
  pointerKeys(pointer).reduce<unknown>(
    (value, key) =>
      Array.isArray(value) ? (value as readonly unknown[])[Number(key)] : ownValue(value, key),
    document,
  ) as Value | undefined
