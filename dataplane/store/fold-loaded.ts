// Folds loaded documents for people to read: from their source, without the values of their Secrets, within limits of
// memory and time.

import { parseJson } from '../../base/parse-json.ts'
import { SerialQueue } from '../../base/serial-queue.ts'
import type { BoundedCompiler } from '../../compiler/bounded-compiler.ts'
import type { CompileWork } from '../../compiler/task.ts'
import type { FoldedResult } from '../../language/explain/complete-explanation.ts'
import { foldDocument } from '../../language/explain/fold-document.ts'
import { setOwn, type Value } from '../../language/expression/value.ts'
import { type Compact, expand } from './packed/compact.ts'
import type { LoadedDocument } from './loaded-content.ts'

/** Rejects with `QueueFullError` where too many wait. */
export type FoldLoaded = (
  document: Pick<LoadedDocument, 'source' | 'digest' | 'variables'>,
) => Promise<FoldedResult>

/** Folds a document. Only the names of `variables` count: no values are passed on. */
export const foldTask: CompileWork<FoldedResult> = ({ document, variables = {} }, bounds) => {
  const folding = foldDocument(document, Object.keys(variables), bounds)
  if (!('problems' in folding)) return { folded: folding.folded }
  const [problem] = folding.problems
  return {
    problem: `It cannot be folded without the values of its Secrets: ${problem?.path ?? ''} ${problem?.message ?? ''}`,
  }
}

const MAX_WAITING = 64

/** One at a time; the last one is kept, as pages of one document are asked for one after the other. */
export const foldWith = (compiler: Pick<BoundedCompiler<FoldedResult>, 'compile'>): FoldLoaded => {
  const queue = new SerialQueue(MAX_WAITING)
  let last: { readonly source: Compact; readonly result: FoldedResult } | undefined
  return ({ source, digest, variables }) =>
    queue.run(async () => {
      if (last?.source === source) return last.result
      const names: Record<string, Value> = {}
      for (const name of Object.keys(variables ?? {})) setOwn(names, name, '')
      const result = await compiler.compile({
        document: parseJson(expand(source).toString()),
        realm: undefined,
        variables: names,
        namespace: '',
        purpose: 'edit',
        digest: () => digest,
      })
      last = { source, result }
      return result
    })
}
