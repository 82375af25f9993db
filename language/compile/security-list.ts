// Compiles `security`: one Security Object, or a list of alternatives of which a request must satisfy one (behaviour §6).
// Alternatives that read the same credentials and can't be told apart do not load.

import { childPointer } from '../../base/json-pointer.ts'
import type { RealmFacts } from '../realm/environment.ts'
import { INVALID } from '../expression/fold.ts'
import { constant, type Template } from '../expression/template.ts'
import { isList } from '../expression/value.ts'
import type { Diagnostics } from './diagnostics.ts'
import type { Placed } from './folded.ts'
import {
  ANONYMOUS,
  type CompiledSecurity,
  compileAlternative,
  credentialPlaceOf,
  type SecurityAlternative,
  type SecurityScheme,
} from './security.ts'

const MAX_ALTERNATIVES = 8

/** undefined: a problem was reported. No scheme placed: anonymous. */
export const compileSecurity = (
  placed: Placed | undefined,
  realm: RealmFacts | undefined,
  diagnostics: Diagnostics,
): CompiledSecurity | undefined => {
  if (placed === undefined) return ANONYMOUS
  const { template, pointer } = placed
  const items = itemsOf(template)
  if (items === undefined) {
    const alternative = compileAlternative(placed, realm, diagnostics)
    return alternative && [alternative]
  }
  if (items.length === 0 || items.length > MAX_ALTERNATIVES) {
    diagnostics.problem(
      items.length === 0 ? 'invalid_datatype' : 'invalid_value',
      pointer,
      `expected a Security Object, or a list of one to ${MAX_ALTERNATIVES} of which a request must satisfy one`,
    )
    return undefined
  }
  const alternatives = items.map((item, index) =>
    compileAlternative(
      { template: item, pointer: childPointer(pointer, index) },
      realm,
      diagnostics,
    ),
  )
  reportDoubles(alternatives, pointer, diagnostics)
  const compiled = alternatives.filter((each) => each !== undefined)
  return compiled.length < items.length ? undefined : compiled
}

/** undefined: no list. */
const itemsOf = (template: Template): readonly Template[] | undefined => {
  if (template === INVALID) return undefined
  if (template.kind === 'list') return template.items
  return template.kind === 'constant' && isList(template.value)
    ? template.value.map(constant)
    : undefined
}

const reportDoubles = (
  alternatives: readonly (SecurityAlternative | undefined)[],
  pointer: string,
  diagnostics: Diagnostics,
): void => {
  for (const [index, each] of alternatives.entries()) {
    if (each === undefined || each.type === 'anonymous') continue
    const before = alternatives
      .slice(0, index)
      .findIndex(
        (other) => other !== undefined && other.type !== 'anonymous' && isLike(each, other),
      )
    if (before === -1) continue
    diagnostics.problem(
      'invalid_value',
      childPointer(pointer, index),
      `its credentials stand in ${credentialPlaceOf(each).header ?? 'what the realm says'} and can't be told from those of entry ${before + 1} (${alternatives[before]?.type ?? ''})`,
    )
  }
}

/** Tickets stand in a cookie too. Two signatures of a realm may stand in one header. */
const headersOf = (scheme: SecurityScheme): readonly (string | undefined)[] =>
  scheme.type === 'oidc' ? ['authorization', 'cookie'] : [credentialPlaceOf(scheme).header]

const isLike = (one: SecurityScheme, other: SecurityScheme): boolean => {
  if (!headersOf(one).some((header) => headersOf(other).includes(header))) return false
  const [first, second] = [credentialPlaceOf(one), credentialPlaceOf(other)]
  if (first.authScheme === undefined || second.authScheme === undefined) return true
  return first.authScheme === second.authScheme && first.token === second.token
}
