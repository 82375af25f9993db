// Writes findings as a JUnit report, which most CI services show beside the tests: one test for each file.

import type { FilesValidation, ValidationFinding } from '../../operator/validate/finding.ts'

/** @example findingsAsJUnit(validation) // '<?xml version="1.0" …><testsuites>…' */
export const findingsAsJUnit = ({ names, findings }: FilesValidation): string => {
  const byFile = Map.groupBy(findings, ({ file }) => file)
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

const isError = ({ severity }: ValidationFinding): boolean => severity === 'error'

const testCase = (name: string, findings: readonly ValidationFinding[]): string => {
  const open = `    <testcase classname="svc validate" name="${escaped(name)}">`
  const errors = findings.filter(isError).map(linesOf)
  const others = findings.filter((finding) => !isError(finding)).map(linesOf)
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

const linesOf = ({ severity, line, column, path, code, message }: ValidationFinding): string =>
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
