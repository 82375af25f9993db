// Warns of a time that is so short that its author probably meant seconds.

import type { Template } from '../expression/template.ts'
import type { Diagnostics } from './diagnostics.ts'

/** Shorter ones are rarely meant: other gateways count seconds. */
const SHORT_TIMEOUT_MS = 100

/** @param pointer of the time in the document */
export const warnOfShortTimeout = (
  time: Template,
  pointer: string,
  diagnostics: Diagnostics,
): void => {
  if (time.kind !== 'constant' || typeof time.value !== 'number') return
  const ms = time.value
  if (ms === 0 || ms >= SHORT_TIMEOUT_MS) return
  diagnostics.warning(
    'ShortTimeout',
    pointer,
    `${ms} is taken as milliseconds: if seconds are meant, write ${ms * 1000}`,
  )
}
