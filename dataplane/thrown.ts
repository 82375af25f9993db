// Whatever was thrown in; its reason in words, or an Error that can be handed on, out.

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)

export const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error(String(error), { cause: error })
