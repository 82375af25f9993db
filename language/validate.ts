// Validates the structure of documents with ajv, to which it is the only door, and lists every problem. Says nothing
// about paths, hosts, expressions or realms, and never changes what it validates.

import type * as Ajv from 'ajv/dist/2020.js'
import { loadLazily } from '../base/load-lazily.ts'
import { areCertificates } from './certificate-text.ts'
import { isCookieDomain } from './cookie-domain.ts'
import { isDateTime } from './json-schema/formats.ts'
import type { Problem } from './problem.ts'
import { ANNOTATIONS } from './schema/document-notation.ts'
import { DOCUMENT_SCHEMA } from './validate/document-schema.ts'
import { problemsOf } from './validate/errors.ts'
import type { Place } from './validate/messages.ts'
import { isPageOrigin, isPlainText, isRedirectOrigin } from './text-formats.ts'
import { isWampPattern, isWampUri } from './wamp-uri.ts'

/** Validates values by a schema, or by one of its `$defs`. */
export interface SchemaValidator {
  readonly whole: (value: unknown, place: Place) => readonly Problem[]
  readonly part: (definition: string, value: unknown, place: Place) => readonly Problem[]
}

/**
 * Prepares a published schema. ajv is loaded when something is first validated, and each definition compiled when it is
 * first used: 50 ms together, which no start waits for.
 * @param annotations keywords of the schema that say nothing about what is valid
 * @throws Error when the schema itself is faulty, at the first use
 */
export const createSchemaValidator = (
  schema: { readonly $id: string },
  annotations: readonly string[] = [],
): SchemaValidator => {
  let ajv: Ajv.Ajv2020 | undefined
  const validateBy = (reference: string, value: unknown, place: Place): readonly Problem[] => {
    ajv ??= createAjv(schema, annotations)
    const matches = ajv.getSchema(reference)
    if (matches === undefined) throw new Error(`There is no schema ${reference}`)
    if (matches(value) === true) return []
    return problemsOf(matches.errors ?? [], place)
  }
  return {
    whole: (value, place) => validateBy(schema.$id, value, place),
    part: (definition, value, place) =>
      validateBy(`${schema.$id}#/$defs/${definition}`, value, place),
  }
}

const createAjv = (
  schema: { readonly $id: string },
  annotations: readonly string[],
): Ajv.Ajv2020 => {
  const { Ajv2020 } = loadLazily('ajv/dist/2020.js') as typeof Ajv
  return new Ajv2020({
    schemas: [schema],
    keywords: [...annotations],
    formats: {
      'cookie-domain': isCookieDomain,
      'plain-text': isPlainText,
      'redirect-origin': isRedirectOrigin,
      'page-origin': isPageOrigin,
      certificates: areCertificates,
      'date-time': isDateTime,
      'wamp-uri': isWampUri,
      // Which parts may be empty depends on the options: the compiler checks that.
      'wamp-pattern': (text: string) => isWampPattern(text, 'wildcard'),
    },
    allErrors: true,
    verbose: true,
    messages: false,
    strict: true,
    // `if: { required: ['type'] }` names properties that stand beside it.
    strictRequired: false,
    allowUnionTypes: true,
    // A test checks the published schemas against the meta-schema: 40 ms at each start otherwise.
    meta: false,
    validateSchema: false,
    // One function for each definition, not inlined or optimised: half the time to compile, as fast to run.
    inlineRefs: false,
    code: { optimize: false },
    // `ownProperties` is left off, it doubles the time: only plain objects get here (`measure`), and no
    // name in the schemas is one that Object.prototype has, which a test checks.
  })
}

const validator = createSchemaValidator(DOCUMENT_SCHEMA, ANNOTATIONS)

/**
 * Validates the structure of a document (specification §2.1–2.8, behaviour §2). Reports every problem at once, at most
 * 1000. A text holding `{{` passes wherever an expression may stand.
 * @example validate({ id: 'a' }) // [{ code: 'missing_required_value', path: '/host', … }, …]
 */
export const validate = (document: unknown): readonly Problem[] =>
  validator.whole(document, { pointer: '', values: 'shown' })

/**
 * Validates a part that folding expressions has produced, by the rules of the whole. What still waits for the request
 * is represented by a text holding `{{`. Messages show no values: a variable may have come from a Secret.
 * @param part a definition of the schema
 * @param pointer where the part stands in the document
 */
export const validatePart = (part: string, value: unknown, pointer: string): readonly Problem[] =>
  validator.part(part, value, { pointer, values: 'hidden' })
