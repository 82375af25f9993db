// Defines the diagnostics of `validate`, with their places in files, and writes it as lines and as a record.

import { printableLine } from '../../telemetry/printable.ts'

/** What the files contain, with its diagnostics. */
export interface FilesValidation {
  /** Names of the files, in the order in which they were given. */
  readonly names: readonly string[]
  /** ApiSpecifications and plain documents that could be read. */
  readonly documents: number
  readonly realms: number
  /** Diagnostics in the order of file and place. */
  readonly diagnostics: readonly ValidationDiagnostic[]
}

export interface ValidationDiagnostic {
  /** Errors make the exit code 1; a notice is about something that is not among the files. */
  readonly severity: 'error' | 'warning' | 'notice'
  /** Empty: the diagnostic is about something that is in no file. */
  readonly file: string
  readonly line: number
  /** The first one is 1. */
  readonly column: number
  /** `ApiSpecification default/orders`; the id of a plain document. */
  readonly resource: string
  /** JSON pointer into the resource, or the plain document. */
  readonly path: string
  readonly code: string
  readonly message: string
}

/** @example 'orders.yaml:7:11 ApiSpecification default/orders /spec/document/host invalid_value …' */
export const diagnosticLine = (diagnostic: ValidationDiagnostic): string => {
  const { severity, file, line, column, resource, path, code, message } = diagnostic
  const words = severity === 'error' ? message : `${severity}: ${message}`
  const place = file === '' ? '' : `${file}:${line}:${column}`
  return printableLine([place, resource, path, code, words].filter((part) => part !== '').join(' '))
}

/** The report of `-o json`, with how much of what was validated. Scripts read its `findings`, so that name stays. */
export const validationRecord = ({
  names,
  documents,
  realms,
  diagnostics,
}: FilesValidation): object => ({
  ok: !diagnostics.some(({ severity }) => severity === 'error'),
  files: names.length,
  documents,
  realms,
  findings: diagnostics,
})

export const byPlace = (left: ValidationDiagnostic, right: ValidationDiagnostic): number =>
  left.file === right.file
    ? left.line - right.line || left.column - right.column
    : left.file < right.file
      ? -1
      : 1
