// Builds the error record (§2.14), the body of every error that the gateway itself responds with, on every listener.

import { boundMessage } from '../language/expression/errors.ts'
import type { ErrorRecord } from '../language/wire/wire.ts'
import type { Problem } from '../language/problem.ts'

/** `message` and `description` are cut at 1 KiB of UTF-8: an error never grows with what caused it. */
export const errorRecord = (
  code: string,
  message: string,
  description = '',
  errors?: readonly Problem[],
): ErrorRecord => ({
  code,
  message: boundMessage(message),
  description: boundMessage(description),
  ...(errors === undefined ? {} : { errors }),
})
