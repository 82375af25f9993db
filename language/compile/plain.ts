// Converts a folded template to a plain value, in which everything that depends on the request, or has a problem, is a text
// that contains `{{`.

import { INVALID } from '../expression/fold.ts'
import type { Template } from '../expression/template.ts'
import { setOwn, type Value } from '../expression/value.ts'

const WAITS = '{{…}}'

/** @example toPlain({ kind: 'read', root: 'request', keys: ['body'] }) // '{{…}}' */
export const toPlain = (template: Template): Value => {
  // Its problem has been reported.
  if (template === INVALID) return WAITS
  switch (template.kind) {
    case 'constant':
      return template.value
    case 'list':
      return template.items.map(toPlain)
    case 'map': {
      const map: Record<string, Value> = {}
      for (const [key, child] of template.entries) setOwn(map, key, toPlain(child))
      return map
    }
    case 'text':
    case 'read':
    case 'pipe':
      return WAITS
  }
}
