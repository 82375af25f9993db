// Defines the options that the command lines of all benchmarks share, and selects the parts that are measured.

import type { ParseArgsOptionsConfig } from 'node:util'

export const COMMON_OPTIONS = {
  quick: { type: 'boolean', default: false },
  only: { type: 'string', multiple: true, default: [] },
  out: { type: 'string' },
} satisfies ParseArgsOptionsConfig

/**
 * Selects the parts that `--only` names, or all of them without it, in the order of `names`.
 * @param only several names may stand in one of its texts, with commas between them
 * @throws Error for a name that does not exist
 * @example selectParts(['a', 'b', 'c'], ['c,a']) // ['a', 'c']
 */
export const selectParts = <Name extends string>(
  names: readonly Name[],
  only: readonly string[],
): readonly Name[] => {
  const selected = only.flatMap((text) => text.split(','))
  const known: readonly string[] = names
  const unknown = selected.find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw new Error(`--only: there is no '${unknown}'; choose from ${names.join(', ')}`)
  return selected.length === 0 ? names : names.filter((name) => selected.includes(name))
}
