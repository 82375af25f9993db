// A folded template in, a plain value out, in which whatever waits for the request, or is faulty, is a text
// that holds `{{`: so the rules for values that were written hold for values that an expression gave.

import { FAULT } from '../expression/fold.ts'
import type { Template } from '../expression/template.ts'
import { setOwn, type Value } from '../expression/value.ts'

const WAITS = '{{…}}'

/** @example toPlain({ kind: 'read', root: 'request', keys: ['body'] }) // '{{…}}' */
export const toPlain = (template: Template): Value => {
  // Its fault has been reported.
  if (template === FAULT) return WAITS
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
