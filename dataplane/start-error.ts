// Defines the error of a start that fails for a reason the person who runs the program can fix: one line on stderr,
// exit code 2.

import { CodedError } from '../base/coded-error.ts'

/** The message is for the person who starts the program. */
export class StartError extends CodedError<'start_failed'> {
  constructor(message: string, cause?: unknown) {
    super('start_failed', message, { cause })
  }
}
