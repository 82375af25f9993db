// Checks operands that name files or the management address of a gateway.

import { urlErrorOf, withoutUser } from '../operator/fleet/static-data-planes.ts'

/** Whether an operand names a gateway, and not a file. */
export const isManagementAddress = (operand: string): boolean =>
  /^(https?:\/\/|unix:)/i.test(operand)

/** What is wrong with the source of routes: it is files, or one management address. Undefined: nothing. */
export const sourceProblem = (operands: readonly string[]): string | undefined => {
  const [first] = operands
  if (first === undefined)
    return 'name files or directories, - for stdin, or the management address of a gateway, such as http://127.0.0.1:18081'
  if (!operands.some(isManagementAddress)) return undefined
  return operands.length > 1 ? 'name either files or one management address' : addressProblem(first)
}

/** What is wrong with a management address. */
export const addressProblem = (url: string): string | undefined => {
  const problem = urlErrorOf(url)
  return problem && `'${withoutUser(url).slice(0, 200)}': ${problem}`
}
