// Writes diagnostics as a JUnit report, which most CI services show beside the tests: one test for each file.

import { printableLine } from '../../telemetry/printable.ts'
import type { FilesValidation, ValidationDiagnostic } from '../validate/validation-diagnostic.ts'

/**
 * @param isFailure whether a diagnostic makes its file fail
 * @example diagnosticsAsJUnit(validation, isError) // '<?xml version="1.0" …><testsuites>…'
 */
export const diagnosticsAsJUnit = (
  { names, diagnostics }: FilesValidation,
  isFailure: IsFailure,
): string => {
  const byFile = Map.groupBy(diagnostics, ({ file }) => file)
  const failures = names.filter((name) => byFile.get(name)?.some(isFailure) === true).length
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites>',
    `  <testsuite name="svc validate" tests="${names.length}" failures="${failures}">`,
    ...names.map((name) => testCase(name, byFile.get(name) ?? [], isFailure)),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

/** Whether a diagnostic makes the command fail, which `--strict` decides. */
export type IsFailure = (diagnostic: ValidationDiagnostic) => boolean

const testCase = (
  name: string,
  diagnostics: readonly ValidationDiagnostic[],
  isFailure: IsFailure,
): string => {
  const open = `    <testcase classname="svc validate" name="${escaped(printableLine(name))}">`
  const failures = diagnostics.filter(isFailure)
  const others = diagnostics.filter((each) => !isFailure(each)).map(linesOf)
  const failure = `      <failure message="${describeCounts(failures)}">${escaped(failures.map(linesOf).join('\n'))}</failure>`
  const output = `      <system-out>${escaped(others.join('\n'))}</system-out>`
  return [
    open,
    ...(failures.length > 0 ? [failure] : []),
    ...(others.length > 0 ? [output] : []),
    '    </testcase>',
  ].join('\n')
}

/** @example '1 error, 2 warnings' */
const describeCounts = (diagnostics: readonly ValidationDiagnostic[]): string =>
  [...Map.groupBy(diagnostics, ({ severity }) => severity)]
    .map(([severity, { length }]) => `${length} ${severity}${length === 1 ? '' : 's'}`)
    .join(', ')

const linesOf = ({ severity, line, column, path, code, message }: ValidationDiagnostic): string =>
  printableLine(`${severity} at ${line}:${column} ${path} ${code}: ${message}`)

/** XML 1.0 §2.2: most control characters are not allowed in a document, not even escaped. */
const escaped = (text: string): string =>
  text
    // eslint-disable-next-line no-control-regex -- these are the characters to leave out
    .replaceAll(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, '\uFFFD')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
