// Compares the version of Node that runs a program with the oldest one that the program works on.

/** As `engines` of package.json has it, which a test compares. */
export const MINIMUM_NODE = '24.9'

/**
 * One sentence for a person; undefined where the version is new enough.
 * @example describeOldNode('20.20.2', '24.9') // 'Node 24.9 or newer is needed, and this is Node 20.20.2: …'
 */
export const describeOldNode = (version: string, minimum: string): string | undefined => {
  const [major = 0, minor = 0] = numbersOf(version)
  const [leastMajor = 0, leastMinor = 0] = numbersOf(minimum)
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return undefined
  return `Node ${minimum} or newer is needed, and this is Node ${version}: install a newer one, or put "npx --yes --package node@${leastMajor} --" before the command`
}

const numbersOf = (version: string): readonly number[] => version.split('.').map(Number)
