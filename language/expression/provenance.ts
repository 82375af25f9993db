// Decides whether all that a template can give is the document's own, whatever a request brings: a request may choose
// among texts of the document, and then the text is still the document's.

import { childrenOf } from './children.ts'
import { functionNamed, STEP } from './functions/functions.ts'
import type { PipeArgument, PipeCall, ReadTemplate } from './template.ts'

/**
 * @example isOfDocument({ kind: 'read', root: 'request', keys: ['bindings', 'id'] }) // false
 */
export const isOfDocument = (template: PipeArgument): boolean => {
  switch (template.kind) {
    case 'constant':
    case 'piped':
      return true
    case 'read':
      return isOwnRead(template)
    case 'pipe':
      return isOfDocument(template.input) && template.calls.every(addsNothing)
    case 'map':
    case 'list':
    case 'text':
      return childrenOf(template).every(isOfDocument)
  }
}

/** Members of the identity that only the document sets; callers or their providers may have chosen all others. */
const OWN_OF_IDENTITY: ReadonlySet<string> = new Set(['type', 'realm_uri', 'authmethod'])

const isOwnRead = ({ root, keys }: ReadTemplate): boolean =>
  root === 'status_codes' || (root === 'security' && OWN_OF_IDENTITY.has(keys[0] ?? ''))

const addsNothing = ({ name, args }: PipeCall): boolean =>
  args.slice(name === STEP ? args.length : functionNamed(name)?.clientArguments).every(isOfDocument)
