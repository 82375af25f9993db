// Compiles the schemes that a path, and `/ws` of a version, are served over (§2.3), and whether http is redirected.

import type { Scheme, ServedScheme } from '../document.ts'
import { LIST, listOf, oneOf, type DocumentSchema } from '../schema/document-notation.ts'
import type { Diagnostics } from './diagnostics.ts'
import { type Placed, readTexts } from './folded.ts'

const SCHEMES: readonly Scheme[] = ['http', 'https']

/** The definition that the schema of the key refers to. */
export const SCHEMES_SCHEMA: DocumentSchema = {
  ...LIST,
  ...listOf(oneOf(SCHEMES), { minItems: 1, maxItems: 64 }),
  description: 'Each http or https.',
}

const REDIRECTED: readonly ServedScheme[] = ['https', 'redirect_http']

/** Both schemes where the document names none; `redirect_http` leaves https alone. */
export const compileSchemes = (
  find: (name: 'schemes' | 'redirect_http') => Placed | undefined,
  diagnostics: Diagnostics,
): readonly ServedScheme[] => {
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
