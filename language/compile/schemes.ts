// Compiles the schemes that a path, and `/ws` of a version, are served over (§2.3), and whether http is redirected.

import type { Scheme, ServedScheme } from '../document.ts'
import {
  LIST,
  listOf,
  oneOf,
  ref,
  restrictingKey,
  type DocumentSchema,
} from '../schema/document-notation.ts'
import type { Diagnostics } from './diagnostics.ts'
import { type Placed, readTexts } from './folded.ts'
import type { Find } from './inheritance.ts'
import { type InheritedPart, OF_UNSERVED } from './operation-part.ts'

const SCHEMES: readonly Scheme[] = ['http', 'https']

/** The definition that the schema of the key refers to. */
const SCHEMES_SCHEMA: DocumentSchema = {
  ...LIST,
  ...listOf(oneOf(SCHEMES), { minItems: 1, maxItems: 64 }),
  description: 'Each http or https.',
}

const REDIRECTED: readonly ServedScheme[] = ['https', 'redirect_http']

/** Both schemes where the document names none; `redirect_http` leaves https alone. */
const compileSchemes = (find: Find, diagnostics: Diagnostics): readonly ServedScheme[] => {
  const placed = find('schemes')
  const written = placed && readTexts(placed.template, placed.pointer, SCHEMES, diagnostics)
  if (!isTrue(find('redirect_http'), diagnostics)) return written ?? SCHEMES
  if (placed !== undefined && written?.includes('https') === false)
    diagnostics.problem(
      'invalid_value',
      placed.pointer,
      "redirect_http sends http to https, which is not among these schemes: add https, or write 'redirect_http: false' beside them",
    )
  return REDIRECTED
}

const isTrue = (placed: Placed | undefined, diagnostics: Diagnostics): boolean => {
  if (placed === undefined) return false
  const { template, pointer } = placed
  if (template.kind === 'constant' && typeof template.value === 'boolean') return template.value
  diagnostics.problem('invalid_value', pointer, 'expected true or false, known at load')
  return false
}

export const SCHEMES_PART: InheritedPart<'schemes'> = {
  of: OF_UNSERVED,
  definitions: { schemes: SCHEMES_SCHEMA },
  keys: {
    schemes: {
      on: ['path'],
      schema: restrictingKey('Schemes that are served; both when nothing is set.', ref('schemes')),
    },
    redirect_http: {
      on: ['path'],
      schema: restrictingKey(
        'Whether a GET or HEAD over http is redirected (308) to the same URL over https. Then nothing is served over http.',
        { type: 'boolean', default: false },
      ),
    },
  },
  compile: (find, { diagnostics }) => compileSchemes(find, diagnostics),
  map: 'plain',
  describe: (schemes) => ({ schemes }),
}
