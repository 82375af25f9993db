// Describes for a person how the version of a data plane differs from ours. One minor version apart is what is tested
// together.

/**
 * Empty where they are the same, or one of them is not known.
 * @example describeSkew('1.3.0', '1.4.2') // 'its version is 1.3.0, that of this operator 1.4.2'
 */
export const describeSkew = (theirs: string | undefined, ours: string | undefined): string => {
  if (theirs === undefined || ours === undefined || theirs === ours) return ''
  const words = `its version is ${theirs}, that of this operator ${ours}`
  return isAdjacent(theirs, ours)
    ? words
    : `${words}: only neighbouring minor versions are tested together, so update the older one`
}

const isAdjacent = (left: string, right: string): boolean => {
  const [a, b] = [majorAndMinor(left), majorAndMinor(right)]
  if (a === undefined || b === undefined) return false
  return a.major === b.major && Math.abs(a.minor - b.minor) < 2
}

const majorAndMinor = (
  version: string,
): { readonly major: number; readonly minor: number } | undefined => {
  const [, major, minor] = /^(\d{1,6})\.(\d{1,6})\./.exec(version) ?? []
  return major === undefined || minor === undefined
    ? undefined
    : { major: Number(major), minor: Number(minor) }
}
