// Compiles the schemes that a path, and `/ws` of a version, are served over (§2.3).

import type { Scheme } from '../document.ts'
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

/** Both schemes where the document names none. */
export const compileSchemes = (
  placed: Placed | undefined,
  diagnostics: Diagnostics,
): readonly Scheme[] =>
  (placed && readTexts(placed.template, placed.pointer, SCHEMES, diagnostics)) ?? SCHEMES
