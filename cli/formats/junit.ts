// Writes diagnostics as a JUnit report, which most CI services show beside the tests: one test for each file.

import type {
  FilesValidation,
  ValidationDiagnostic,
} from '../../operator/validate/validation-diagnostic.ts'

/** @example diagnosticsAsJUnit(validation) // '<?xml version="1.0" …><testsuites>…' */
export const diagnosticsAsJUnit = ({ names, diagnostics }: FilesValidation): string => {
  const byFile = Map.groupBy(diagnostics, ({ file }) => file)
  const failures = names.filter((name) => byFile.get(name)?.some(isError) === true).length
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites>',
    `  <testsuite name="svc validate" tests="${names.length}" failures="${failures}">`,
    ...names.map((name) => testCase(name, byFile.get(name) ?? [])),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

const isError = ({ severity }: ValidationDiagnostic): boolean => severity === 'error'

const testCase = (name: string, diagnostics: readonly ValidationDiagnostic[]): string => {
  const open = `    <testcase classname="svc validate" name="${escaped(name)}">`
  const errors = diagnostics.filter(isError).map(linesOf)
  const others = diagnostics.filter((diagnostic) => !isError(diagnostic)).map(linesOf)
  const failure = `      <failure message="${count(errors.length)}">${escaped(errors.join('\n'))}</failure>`
  const output = `      <system-out>${escaped(others.join('\n'))}</system-out>`
  return [
    open,
    ...(errors.length > 0 ? [failure] : []),
    ...(others.length > 0 ? [output] : []),
    '    </testcase>',
  ].join('\n')
}

const count = (errors: number): string => `${errors} ${errors === 1 ? 'error' : 'errors'}`

const linesOf = ({ severity, line, column, path, code, message }: ValidationDiagnostic): string =>
  `${severity} at ${line}:${column} ${path} ${code}: ${message}`

/** XML 1.0 §2.2: most control characters stand in no document, not even escaped. */
const escaped = (text: string): string =>
  text
    // eslint-disable-next-line no-control-regex -- these are the characters to leave out
    .replaceAll(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, '\uFFFD')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
