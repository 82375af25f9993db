// The error record (§2.14): what every refusal of the gateway looks like, on every listener.

import type { ErrorRecord } from '../spec/wire.ts'
import type { Problem } from '../spec/problem.ts'

const MAX_TEXT = 1024

/** `message` and `description` are cut at 1 KiB: an error never grows with what caused it. */
export const errorRecord = (
  code: string,
  message: string,
  description = '',
  errors?: readonly Problem[],
): ErrorRecord => ({
  code,
  message: cut(message),
  description: cut(description),
  ...(errors === undefined ? {} : { errors }),
})

const cut = (text: string): string =>
  text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1)}…`
