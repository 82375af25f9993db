// Defines what all our errors have in common: a code of a closed union that callers decide by, a message for people, and
// the cause. A room that others catch errors of has one class of its own, which names its codes.

/**
 * The base of every error class. Callers decide by `code`, never by the message; the name is the class's own.
 * A code stands in logs, so it never comes from a peer; a message never quotes a secret.
 * @example
 * class CacheError extends CodedError<'full' | 'closed'> {}
 * throw new CacheError('closed', 'the cache is closed', { cause })
 */
export abstract class CodedError<Code extends string> extends Error {
  readonly code: Code

  constructor(code: Code, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
    this.code = code
  }
}
