// Reads the members of Action Objects, whatever the type of the action.

import { checkHeaders } from './headers.ts'
import type { Template } from '../expression/template.ts'
import type { Findings } from './findings.ts'
import { type FoldedMap, readShape, readTextOrWait } from './folded.ts'
import { childPointer } from '../../base/json-pointer.ts'

/** The one of `names` that is there; the first where none is. */
export const presentName = (map: FoldedMap, names: readonly string[]): string =>
  names.find((name) => map.keys.includes(name)) ?? names[0] ?? ''

/** A text under one of `names`, or a template that waits for one. undefined: a problem was reported. */
export const requiredText = (
  map: FoldedMap,
  names: readonly string[],
  findings: Findings,
): Template | undefined => {
  const name = presentName(map, names)
  if (!map.keys.includes(name)) {
    findings.problem(
      'missing_required_value',
      childPointer(map.pointer, name),
      `${names.join(' or ')} is required here`,
    )
    return undefined
  }
  return textMember(map, name, findings)
}

export const textMember = (
  map: FoldedMap,
  name: string,
  findings: Findings,
): Template | undefined => {
  const template = map.get(name)
  return template && readTextOrWait(template, childPointer(map.pointer, name), findings)
}

export const headersMember = (map: FoldedMap, findings: Findings): Template | undefined => {
  const headers = shapeMember(map, ['headers'], 'map', findings)
  if (headers !== undefined) checkHeaders(headers, childPointer(map.pointer, 'headers'), findings)
  return headers
}

export const shapeMember = (
  map: FoldedMap,
  names: readonly string[],
  shape: 'map' | 'list',
  findings: Findings,
): Template | undefined => {
  const name = presentName(map, names)
  const template = map.get(name)
  return template && readShape(template, childPointer(map.pointer, name), shape, findings)
}
