// The only door to ajv: an unknown value in, the document or every fault of its structure out. Says
// nothing about paths, hosts, expressions or realms, and never changes what it judges.

import { Ajv2020 } from 'ajv/dist/2020.js'
import { isCookieDomain } from './cookie-domain.ts'
import type { ApiDocument } from './document.ts'
import type { Problem } from './problem.ts'
import apiSchema from './schema/api-specification.schema.json' with { type: 'json' }
import { problemsOf } from './validate/errors.ts'
import type { Place } from './validate/messages.ts'
import { isWampPattern, isWampUri } from './wamp-uri.ts'

export type Validation =
  | { readonly ok: true; readonly document: ApiDocument }
  | { readonly ok: false; readonly problems: readonly Problem[] }

/** What can be judged by itself: a definition of the published schema. */
export type DocumentPart = keyof typeof apiSchema.$defs

/** Judges values by a schema, or by one of its `$defs`. */
export interface SchemaJudge {
  readonly whole: (value: unknown, place: Place) => readonly Problem[]
  readonly part: (definition: string, value: unknown, place: Place) => readonly Problem[]
}

/**
 * Makes a published schema ready. Each definition is compiled when it is first asked for; the whole takes
 * about 20 ms then.
 * @throws Error when the schema itself is faulty
 */
export const createSchemaJudge = (schema: { readonly $id: string }): SchemaJudge => {
  const ajv = new Ajv2020({
    schemas: [schema],
    formats: {
      'cookie-domain': isCookieDomain,
      'wamp-uri': isWampUri,
      // Which parts may be empty depends on the options: the compiler looks there.
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
    // One function for each definition and no polishing of them: half the time to compile, as fast to run.
    inlineRefs: false,
    code: { optimize: false },
    // `ownProperties` is left off, it doubles the time: only plain objects get here (`measure`), and no
    // name in the schemas is one that Object.prototype has, which a test checks.
  })
  const judge = (reference: string, value: unknown, place: Place): readonly Problem[] => {
    const validator = ajv.getSchema(reference)
    if (validator === undefined) throw new Error(`There is no schema ${reference}`)
    if (validator(value) === true) return []
    return problemsOf(validator.errors ?? [], place)
  }
  return {
    whole: (value, place) => judge(schema.$id, value, place),
    part: (definition, value, place) => judge(`${schema.$id}#/$defs/${definition}`, value, place),
  }
}

const judge = createSchemaJudge(apiSchema)

/**
 * Judges the structure of a document (specification §2.1–2.8, behaviour §2). Reports every fault at once,
 * at most 1000. A text holding `{{` passes wherever an expression may stand.
 * @example validate({ id: 'a' }) // { ok: false, problems: [{ code: 'missing_required_value', path: '/host', … }] }
 */
export const validate = (document: unknown): Validation => {
  const problems = judge.whole(document, { pointer: '', values: 'shown' })
  // The schema and these types say the same; a test holds them together.
  return problems.length === 0
    ? { ok: true, document: document as ApiDocument }
    : { ok: false, problems }
}

/**
 * Judges a part that came to be when expressions were folded, by the rules of the whole. What still waits
 * for the request is represented by a text holding `{{`. Messages show no values: a variable may have
 * come from a Secret.
 * @param pointer where the part stands in the document
 */
export const validatePart = (
  part: DocumentPart,
  value: unknown,
  pointer: string,
): readonly Problem[] => judge.part(part, value, { pointer, values: 'hidden' })
