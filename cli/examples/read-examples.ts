// Reads the examples of files, with the documents as gateways would serve them.

import type { CompiledApi } from '../../language/compile/compiled.ts'
import { compile } from '../../language/compile.ts'
import type { PlacedExample, PlacedOperation } from '../../language/examples/example.ts'
import { listExamples } from '../../language/examples/list-examples.ts'
import type { ValueMap } from '../../language/expression/value.ts'
import { ANY_REALM } from '../../operator/reconcile/documents/make-document.ts'
import { type DocumentOfFile, readDocuments } from '../explain/read-documents.ts'
import type { GatheredFile } from '../validate/gather-files.ts'

export interface FileExample {
  readonly placed: PlacedExample
  /** The place of a pointer below the example: `users.yaml:12:5`. */
  readonly placeOf: (below: string) => string
  /** Without the values of Secrets. */
  readonly hide: (text: string) => string
}

export interface ReadExamples {
  readonly documents: readonly CompiledApi[]
  readonly examples: readonly FileExample[]
  /** Operations without any, each with its place. */
  readonly without: readonly { readonly operation: string; readonly place: string }[]
  /** One line for each document that is not served, and why. */
  readonly leftOut: readonly string[]
}

interface Options {
  readonly class: string
  readonly maxRoutes: number
  /** Values of variables, over those of Secrets. */
  readonly set: ValueMap
}

export const readExamples = (files: readonly GatheredFile[], options: Options): ReadExamples => {
  const { class: className, maxRoutes, set } = options
  const read = readDocuments(files, { className, maxRoutes })
  const leftOut = [...read.leftOut]
  const documents: CompiledApi[] = []
  const examples: FileExample[] = []
  const without: ReadExamples['without'][number][] = []
  for (const each of read.documents) {
    const { document, placeOf } = each
    const variables = { ...each.variables(), ...set }
    const compiled = compiledWith(each, variables, maxRoutes)
    if (typeof compiled === 'string') {
      leftOut.push(compiled)
      continue
    }
    documents.push(compiled)
    const hide = hiding(variables)
    for (const operation of listExamples(document, compiled)) {
      const { pointer } = operation.operation
      if (operation.examples.length === 0)
        without.push({ operation: operationName(operation), place: placeOf(pointer) })
      for (const placed of operation.examples)
        examples.push({ placed, hide, placeOf: (below) => placeOf(`${placed.pointer}${below}`) })
    }
  }
  return { documents, examples, without, leftOut }
}

/** @example operationName(placed) // 'GET /v1/orders/:id' */
export const operationName = ({ method, path }: Pick<PlacedOperation, 'method' | 'path'>): string =>
  `${method.toUpperCase()} ${path.template}`

const compiledWith = (
  { compiled, document, placeOf }: DocumentOfFile,
  variables: ValueMap,
  maxRoutes: number,
): CompiledApi | string => {
  if (Object.keys(variables).length === 0) return compiled
  const compilation = compile(document, { realm: () => ANY_REALM, variables }, { maxRoutes })
  if ('compiled' in compilation) return compilation.compiled
  const [problem] = compilation.problems
  return `${placeOf(problem?.path ?? '')} ${compiled.id}: ${problem?.message ?? ''} (a variable of a Secret that is not among the files is empty: set it by --set)`
}

/** Shorter ones would hide what has nothing to do with them. */
const FEWEST_HIDDEN = 4

const hiding = (variables: ValueMap): FileExample['hide'] => {
  const secrets = Object.entries(variables).flatMap(([name, value]) =>
    typeof value === 'string' && value.length >= FEWEST_HIDDEN
      ? formsOf(value).map((form) => [name, form] as const)
      : [],
  )
  if (secrets.length === 0) return (text) => text
  return (text) =>
    secrets
      .reduce((hidden, [name, form]) => hidden.replaceAll(form, `(variables.${name})`), text)
      // Several values may stand in one such text.
      .replaceAll(ENCODED, '$1(of variables)')
}

/** As it stands, in JSON, in a URL and in base64. */
const formsOf = (value: string): readonly string[] => [
  value,
  JSON.stringify(value).slice(1, -1),
  encodeURIComponent(value),
  Buffer.from(value).toString('base64'),
]

/** What `Authorization` has, of whatever scheme. */
const ENCODED = /\b((?:Basic|Bearer) +)[\w+/.~=-]+/gi
