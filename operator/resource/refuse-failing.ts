// Refuses what can only fail: in a resource the version before serves on, whereas a gateway that loads a document serves
// its other operations. Pure.

import type { Problem, Warning } from '../../language/problem.ts'

interface Diagnosed {
  readonly problems: readonly Problem[]
  readonly warnings: readonly Warning[]
}

/**
 * Takes warnings of the code `AlwaysFails` for problems (behaviour §2).
 * @example refuseFailing({ problems: [], warnings: [{ code: 'AlwaysFails', … }] }).problems.length // 1
 */
export const refuseFailing = ({ problems, warnings }: Diagnosed): Diagnosed => ({
  problems: [
    ...problems,
    ...warnings.flatMap(({ code, ...rest }) => (code === 'AlwaysFails' ? [{ ...rest, code }] : [])),
  ],
  warnings: warnings.filter(({ code }) => code !== 'AlwaysFails'),
})
