// A reason why the program cannot start that its operator can mend: one line for stderr, exit 2.

export class StartError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'StartError'
  }
}
