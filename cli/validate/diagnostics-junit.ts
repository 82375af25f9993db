// Writes diagnostics as a JUnit report: one test for each file.

import { printableLine } from '../../telemetry/printable.ts'
import { junitReport } from '../formats/junit.ts'
import type { FilesValidation, ValidationDiagnostic } from './validation-diagnostic.ts'

/** Whether a diagnostic makes the command fail, which `--strict` decides. */
export type IsFailure = (diagnostic: ValidationDiagnostic) => boolean

/**
 * @param isFailure whether a diagnostic makes its file fail
 * @example diagnosticsAsJUnit(validation, isError) // '<?xml version="1.0" …><testsuites>…'
 */
export const diagnosticsAsJUnit = (
  { names, diagnostics }: FilesValidation,
  isFailure: IsFailure,
): string => {
  const byFile = Map.groupBy(diagnostics, ({ file }) => file)
  return junitReport(
    'svc validate',
    names.map((name) => {
      const own = byFile.get(name) ?? []
      const failures = own.filter(isFailure)
      const output = linesOf(own.filter((each) => !isFailure(each)))
      if (failures.length === 0) return { name, output }
      return {
        name,
        output,
        failure: { message: describeCounts(failures), text: linesOf(failures) },
      }
    }),
  )
}

/** @example '1 error, 2 warnings' */
const describeCounts = (diagnostics: readonly ValidationDiagnostic[]): string =>
  [...Map.groupBy(diagnostics, ({ severity }) => severity)]
    .map(([severity, { length }]) => `${length} ${severity}${length === 1 ? '' : 's'}`)
    .join(', ')

const linesOf = (diagnostics: readonly ValidationDiagnostic[]): string =>
  diagnostics.map(lineOf).join('\n')

const lineOf = ({ severity, line, column, path, code, message }: ValidationDiagnostic): string =>
  printableLine(`${severity} at ${line}:${column} ${path} ${code}: ${message}`)
