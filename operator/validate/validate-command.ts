// Runs `svc-operator validate FILE…`: writes what it finds to stdout, and returns the exit code.

import { diagnosticLine, validationRecord } from './validation-diagnostic.ts'
import { gatherFiles } from './gather-files.ts'
import { validateFiles } from './validate-files.ts'

export interface ValidateOutput {
  readonly readStdin: () => Promise<string>
  readonly print: (text: string) => void
  readonly complain: (text: string) => void
}

/** 0: no errors (there may be warnings). 1: errors. 2: a file can't be read. */
export const runValidate = async (
  operands: readonly string[],
  { json, maxRoutes }: { readonly json: boolean; readonly maxRoutes: number },
  { readStdin, print, complain }: ValidateOutput,
): Promise<0 | 1 | 2> => {
  const gathered = await gatherFiles(operands, readStdin)
  if ('fault' in gathered) {
    complain(`svc-operator: validate: ${gathered.fault}\n`)
    return 2
  }
  const validation = validateFiles(gathered.files, maxRoutes)
  const { diagnostics } = validation
  if (json) print(`${JSON.stringify(validationRecord(validation), null, 2)}\n`)
  else for (const diagnostic of diagnostics) print(`${diagnosticLine(diagnostic)}\n`)
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length
  const files = gathered.files.length
  complain(
    `${files} ${files === 1 ? 'file' : 'files'}, ${errors} ${errors === 1 ? 'error' : 'errors'}\n`,
  )
  return errors === 0 ? 0 : 1
}
