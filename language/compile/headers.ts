// Checks the header maps of a document, so that names and known values that no HTTP message can carry are rejected at
// load, not when the first request fails (RFC 9110 §5.1, §5.5).

import { childPointer } from '../../base/json-pointer.ts'
import { showKey } from '../expression/errors.ts'
import { type NameVisitor, placeAsHeaders, visitNames } from '../expression/header-templates.ts'
import type { PipeTemplate, Template } from '../expression/template.ts'
import { isList, type Value } from '../expression/value.ts'
import type { UnsentHeaders } from '../unsent-headers.ts'
import type { Diagnostics } from './diagnostics.ts'
import { membersOf } from './members.ts'
import type { Culprit } from './written-place.ts'

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

/** True for a field name (RFC 9110 §5.1). */
export const isHeaderName = (name: string): boolean => TOKEN.test(name)

export const NO_HEADER_NAME =
  "this is no header name: it has letters, digits and !#$%&'*+-.^_`|~ only, no blank and no colon (RFC 9110 §5.1)"

/** True for a field value that may be sent: no CR, LF, NUL or other control but a tab. */
export const isHeaderValue = (value: string): boolean => {
  for (let index = 0; index < value.length; index++) {
    const code = value.charCodeAt(index)
    if ((code < 0x20 && code !== 0x09) || code === 0x7f) return false
  }
  return true
}

/**
 * Compiles what stands where headers stand. Reports known problems; what waits is checked for each request.
 * @param unsent names that are never sent there
 */
export const compileHeaders = (
  template: Template,
  pointer: string,
  unsent: UnsentHeaders,
  diagnostics: Diagnostics,
): Template => {
  checkHeaders(template, pointer, diagnostics)
  warnOfNames(template, pointer, unsent, diagnostics)
  return placeAsHeaders(template)
}

/** Warns of names that have no effect: those that are never sent, and those that are written again. */
const warnOfNames = (
  template: Template,
  pointer: string,
  unsent: UnsentHeaders,
  diagnostics: Diagnostics,
): void => {
  // A name within a pipe has no place of its own.
  const isWritten = template.kind === 'map' || template.kind === 'constant'
  const warn = (name: string, message: string, pipe: PipeTemplate | undefined): void => {
    const culprit: Culprit | undefined = pipe && { source: pipe.source, call: 'put' }
    const place = isWritten ? childPointer(pointer, name) : pointer
    diagnostics.warning('UnknownProperty', place, message, culprit)
  }
  const onWritten: NameVisitor['onWritten'] = (names, pipe) => {
    const last = new Map(names.map((name) => [name.toLowerCase(), name]))
    for (const name of names) {
      const lower = name.toLowerCase()
      const remedy = unsent.remedyFor(lower)
      const later = last.get(lower)
      if (remedy !== undefined)
        warn(name, `the header ${showKey(name)} is never sent from here: ${remedy}`, pipe)
      else if (later !== undefined && later !== name)
        warn(
          name,
          `the header ${showKey(name)} is written again as ${showKey(later)}, and the last one counts: leave one of them out`,
          pipe,
        )
    }
  }
  visitNames(template, { onWritten })
}

const checkHeaders = (template: Template, pointer: string, diagnostics: Diagnostics): void => {
  for (const [name, value] of membersOf(template)) {
    const place = childPointer(pointer, name)
    if (!isHeaderName(name)) diagnostics.problem('invalid_value', place, NO_HEADER_NAME)
    else if (value.kind === 'constant') checkValue(value.value, place, diagnostics)
  }
}

const checkValue = (value: Value, pointer: string, diagnostics: Diagnostics): void => {
  const texts = (isList(value) ? value : [value]).filter((text) => typeof text === 'string')
  const unfit = texts.find((text) => !isHeaderValue(text))
  if (unfit === undefined) return
  const remedy = unfit.includes('\n')
    ? ': put it on one line, or write |- in place of |, and >- in place of >'
    : ''
  diagnostics.problem(
    'invalid_value',
    pointer,
    `a header value may hold no line break or control character${remedy}`,
  )
}
