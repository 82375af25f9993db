// Defines the error of a start that fails for a reason the person who runs the program can fix: one line on stderr,
// exit code 2.

export class StartError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'StartError'
  }
}
