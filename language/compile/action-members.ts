// Reads the members of Action Objects, whatever the type of the action.

import { compileHeaders } from './headers.ts'
import type { Template } from '../expression/template.ts'
import type { Diagnostics } from './diagnostics.ts'
import type { UnsentHeaders } from '../unsent-headers.ts'
import { type FoldedMap, readShape, readTextOrWait } from './folded.ts'
import { childPointer } from '../../base/json-pointer.ts'

/** The one of `names` that is there; the first where none is. */
export const presentName = (map: FoldedMap, names: readonly string[]): string =>
  names.find((name) => map.keys.includes(name)) ?? names[0] ?? ''

/** A text under one of `names`, or a template that waits for one. undefined: a problem was reported. */
export const requiredText = (
  map: FoldedMap,
  names: readonly string[],
  diagnostics: Diagnostics,
): Template | undefined => {
  const name = presentName(map, names)
  if (!map.keys.includes(name)) {
    diagnostics.problem(
      'missing_required_value',
      childPointer(map.pointer, name),
      `${names.join(' or ')} is required here`,
    )
    return undefined
  }
  return textMember(map, name, diagnostics)
}

export const textMember = (
  map: FoldedMap,
  name: string,
  diagnostics: Diagnostics,
): Template | undefined => {
  const template = map.get(name)
  return template && readTextOrWait(template, childPointer(map.pointer, name), diagnostics)
}

export const headersMember = (
  map: FoldedMap,
  unsent: UnsentHeaders,
  diagnostics: Diagnostics,
): Template | undefined => {
  const headers = shapeMember(map, ['headers'], 'map', diagnostics)
  return (
    headers && compileHeaders(headers, childPointer(map.pointer, 'headers'), unsent, diagnostics)
  )
}

export const shapeMember = (
  map: FoldedMap,
  names: readonly string[],
  shape: 'map' | 'list',
  diagnostics: Diagnostics,
): Template | undefined => {
  const name = presentName(map, names)
  const template = map.get(name)
  return template && readShape(template, childPointer(map.pointer, name), shape, diagnostics)
}
