// A template in, the parts of the context that it reads out, so that nothing else need be filled in.

import { childrenOf } from './children.ts'
import type { PipeArgument, Root, Template } from './template.ts'

/** As `ContextRead` of the compiled form: `request`, `request.body`, `action.result.args`, `security`. */
type Read = Root | `${Root}.${string}`

/** Keys that count. */
const DEPTH = { request: 1, security: 1, action: 2, status_codes: 0 } as const satisfies Record<
  Root,
  number
>

/**
 * Sorted, unique.
 * @example readsOf({ kind: 'read', root: 'request', keys: ['body', 'a'] }) // ['request.body']
 */
export const readsOf = (template: Template): readonly Read[] => {
  const reads = new Set<Read>()
  collect(template, reads)
  return [...reads].sort()
}

const collect = (template: PipeArgument, reads: Set<Read>): void => {
  switch (template.kind) {
    case 'constant':
    case 'piped':
      return
    case 'read':
      reads.add([template.root, ...template.keys.slice(0, DEPTH[template.root])].join('.') as Read)
      return
    default:
      for (const child of childrenOf(template)) collect(child, reads)
  }
}
