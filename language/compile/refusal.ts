// Compiles `on_refusal`: body and headers of what the gateway refuses by itself, which a path, and the defaults above it,
// may word.

import { childPointer } from '../../base/json-pointer.ts'
import type { CompiledRefusal } from './compiled.ts'
import { readsOf } from '../expression/reads.ts'
import { constant, type Template } from '../expression/template.ts'
import { type DocumentSchema, key, MAP, ref } from '../schema/document-notation.ts'
import { UNSENT_IN_REFUSALS } from '../unsent-headers.ts'
import type { Diagnostics } from './diagnostics.ts'
import { type Placed, readShape, toFoldedMap } from './folded.ts'
import { compileHeaders } from './headers.ts'
import { membersOf } from './members.ts'
import { type CompileRefusal, type InheritedPart, OF_UNSERVED } from './operation-part.ts'
import { type WarnAt, warnOfRefusal } from './warn-of-failures.ts'

const REFUSAL_SCHEMA: DocumentSchema = {
  ...MAP,
  description: 'A refusal in the words of the document, or an expression that yields one.',
  properties: {
    headers: key(
      'Response headers by name, over those of the path. WWW-Authenticate stays as it is.',
      MAP,
    ),
    body: key(
      'Response body: any value. "" and null are an empty payload; the error record when left out.',
    ),
  },
  additionalProperties: false,
}

/** Not of operations: it holds for all requests of a path, and a version refuses what no path of it matches. */
export const REFUSAL_PART: InheritedPart<'refusal'> = {
  of: OF_UNSERVED,
  definitions: { refusal: REFUSAL_SCHEMA },
  keys: {
    on_refusal: {
      on: ['path'],
      schema: key(
        'Body and headers of what the gateway refuses by itself, with 400, 401, 403, 404, 405, 406, 408, 413, 415, 426, 429 or 503; what is refused is {{refusal.…}}. The status stays. The error record when left out.',
        ref('refusal'),
      ),
    },
  },
  compile: (find, { compileRefusal: compileOnce }) => compileOnce(find('on_refusal')),
  map: (refusal, change) =>
    refusal && {
      headers: change(refusal.headers),
      ...(refusal.body !== undefined && { body: change(refusal.body) }),
    },
  describe: (refusal) => (refusal === undefined ? {} : { on_refusal: { ...refusal } }),
}

/** Paths of a version share what they inherit: it is compiled, and reported on, once. */
export const createRefusalCompiler = (diagnostics: Diagnostics): CompileRefusal => {
  const known = new Map<Placed, CompiledRefusal | undefined>()
  return (placed) => {
    if (placed === undefined) return undefined
    if (!known.has(placed)) known.set(placed, compileRefusal(placed, diagnostics))
    return known.get(placed)
  }
}

/** Warns of what stands in an `on_refusal`. */
export const warnIn =
  ({ pointer }: Placed, diagnostics: Diagnostics): WarnAt =>
  (code, keys, message, culprit) => {
    diagnostics.warning(
      code,
      keys.map(String).reduce<string>(childPointer, pointer),
      message,
      culprit,
    )
  }

const compileRefusal = (placed: Placed, diagnostics: Diagnostics): CompiledRefusal | undefined => {
  const { template, pointer } = placed
  const map = toFoldedMap(template, pointer, diagnostics)
  if (map === undefined) return undefined
  const place = childPointer(pointer, 'headers')
  const written = readShape(map.get('headers') ?? constant({}), place, 'map', diagnostics)
  if (written === undefined) return undefined
  const body = map.get('body')
  const refusal: CompiledRefusal = {
    headers: compileHeaders(written, place, UNSENT_IN_REFUSALS, diagnostics),
    ...(body === undefined ? {} : { body }),
  }
  for (const [name, member] of Object.entries(refusal))
    refuseReads(member as Template, childPointer(pointer, name), diagnostics)
  warnOfRefusal(refusal, warnIn(placed, diagnostics))
  warnOfReflection(refusal, childPointer(pointer, 'body'), diagnostics)
  return refusal
}

/** A request may be refused before its caller is known, its body is there or its action has begun. */
const refuseReads = (template: Template, pointer: string, diagnostics: Diagnostics): void => {
  for (const read of readsOf(template)) {
    const [root = ''] = read.split('.')
    if (!OPEN_ROOTS.has(root) || BODY_READS.has(read))
      diagnostics.problem(
        'invalid_expression',
        pointer,
        `${read} can't be read here: on_refusal reads refusal, request without its body, variables and status_codes`,
      )
  }
}

const OPEN_ROOTS: ReadonlySet<string> = new Set(['refusal', 'request', 'status_codes'])
const BODY_READS: ReadonlySet<string> = new Set(['request.body', 'request.body_length'])

/** There is no function that escapes: what a client sends must not stand in a page (XSS). */
const warnOfReflection = (
  { headers, body }: CompiledRefusal,
  pointer: string,
  diagnostics: Diagnostics,
): void => {
  const type = membersOf(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1]
  if (type?.kind !== 'constant' || typeof type.value !== 'string') return
  if (!/html|xml/i.test(type.value)) return
  const read = body && readsOf(body).find((each) => CHOSEN_BY_CLIENTS.has(each))
  if (read !== undefined)
    diagnostics.warning(
      'SuspiciousExpression',
      pointer,
      `${read} stands in a page as the client sent it, so that a link to this page can run scripts in it: leave it out, or respond with JSON or plain text`,
    )
}

const CHOSEN_BY_CLIENTS: ReadonlySet<string> = new Set([
  'request',
  'request.headers',
  'request.query_params',
  'request.query_string',
  'request.bindings',
  'request.path',
  'refusal',
  'refusal.errors',
])
