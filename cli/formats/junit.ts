// Writes a JUnit report, which most CI services show beside the tests.

import { printableLine } from '../../telemetry/printable.ts'

export interface JUnitCase {
  readonly name: string
  /** If left out, it has passed. */
  readonly failure?: { readonly message: string; readonly text: string }
  /** Empty: there is none. */
  readonly output: string
}

/** @example junitReport('svc validate', [{ name: 'a.yaml', output: '' }]) // '<?xml version="1.0" …><testsuites>…' */
export const junitReport = (suite: string, cases: readonly JUnitCase[]): string => {
  const failures = cases.filter(({ failure }) => failure !== undefined).length
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites>',
    `  <testsuite name="${suite}" tests="${cases.length}" failures="${failures}">`,
    ...cases.map((each) => testCase(suite, each)),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

const testCase = (suite: string, { name, failure, output }: JUnitCase): string =>
  [
    `    <testcase classname="${suite}" name="${escaped(printableLine(name))}">`,
    ...(failure === undefined
      ? []
      : [
          `      <failure message="${escaped(printableLine(failure.message))}">${escaped(failure.text)}</failure>`,
        ]),
    ...(output === '' ? [] : [`      <system-out>${escaped(output)}</system-out>`]),
    '    </testcase>',
  ].join('\n')

/** XML 1.0 §2.2: most control characters are not allowed in a document, not even escaped. */
const escaped = (text: string): string =>
  text
    // eslint-disable-next-line no-control-regex -- these are the characters to leave out
    .replaceAll(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, '\uFFFD')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
