// Numbers that no test may assert tightly: they go to stderr, for the reader of the run.

/** @example measured('nexus', 'calls settled after the router was killed', 12.3) */
export const measured = (router: string, what: string, ms: number): void => {
  process.stderr.write(`measured: ${router}, ${what}: ${Math.round(ms)} ms\n`)
}
