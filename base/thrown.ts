// Reads the message of any thrown value, or makes an Error of it.

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)

export const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error(String(error), { cause: error })
