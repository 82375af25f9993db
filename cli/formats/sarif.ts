// Writes diagnostics as a SARIF log (OASIS SARIF 2.1.0), which code scanning services read.

import { pathToFileURL } from 'node:url'
import type { ValidationDiagnostic } from '../validate/validation-diagnostic.ts'
import { readVersion } from '../../telemetry/version.ts'

/** @example diagnosticsAsSarif([]) // { version: '2.1.0', runs: [{ tool: …, results: [] }] } */
export const diagnosticsAsSarif = (diagnostics: readonly ValidationDiagnostic[]): object => ({
  $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
  version: '2.1.0',
  runs: [
    {
      tool: {
        driver: {
          name: 'svc validate',
          version: readVersion(),
          rules: [...new Set(diagnostics.map(({ code }) => code))].map((id) => ({ id })),
        },
      },
      // SARIF §3.14.24: columns are counted in UTF-16 code units, as ours are.
      columnKind: 'utf16CodeUnits',
      results: diagnostics.map(resultOf),
    },
  ],
})

const LEVELS = { error: 'error', warning: 'warning', notice: 'note' } as const satisfies Record<
  ValidationDiagnostic['severity'],
  string
>

const resultOf = (diagnostic: ValidationDiagnostic): object => {
  const { severity, file, line, column, resource, path, code, message } = diagnostic
  return {
    ruleId: code,
    level: LEVELS[severity],
    message: { text: message },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: uriOf(file) },
          region: { startLine: line, startColumn: column },
        },
        logicalLocations: [{ fullyQualifiedName: `${resource}${path}` }],
      },
    ],
  }
}

/** RFC 3986: a relative reference for a relative path, so that a service finds it in the repository. */
const uriOf = (file: string): string =>
  file.startsWith('/')
    ? pathToFileURL(file).href
    : file
        .replace(/^(?:\.\/)+/, '')
        .split('/')
        .map(encodeURIComponent)
        .join('/')
