// Starts a benchmark program: reads its command line, or says what is wrong with it, shows its progress, and ends it in
// order on a signal.

/** What is wrong goes to stderr with the usage, and the program ends with 2. */
export const readOrExit = <T>(read: (argv: readonly string[]) => T, usage: string): T => {
  try {
    return read(process.argv.slice(2))
  } catch (error) {
    process.stderr.write(`bench: ${error instanceof Error ? error.message : ''}\n\n${usage}\n`)
    return process.exit(2)
  }
}

/** @returns writes a line of progress to stderr, with the seconds since this call */
export const startProgress = (): ((text: string) => void) => {
  const startedMs = performance.now()
  return (text) => {
    const seconds = Math.round((performance.now() - startedMs) / 1000)
    process.stderr.write(`${String(seconds).padStart(4)} s  ${text}\n`)
  }
}

/** Servers and other processes of the benchmark end when this process does. */
export const endOnSignals = (): void => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      process.exit(130)
    })
}
