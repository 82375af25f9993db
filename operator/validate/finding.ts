// What `validate` says, as data and as lines.

export interface ValidationFinding {
  /** An error makes the exit 1; a notice is about what is not among the files. */
  readonly severity: 'error' | 'warning' | 'notice'
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
export const findingLine = (finding: ValidationFinding): string => {
  const { severity, file, line, column, resource, path, code, message } = finding
  const words = severity === 'error' ? message : `${severity}: ${message}`
  return [`${file}:${line}:${column}`, resource, path, code, words]
    .filter((part) => part !== '')
    .join(' ')
}

export const findingsRecord = (findings: readonly ValidationFinding[]): object => ({
  ok: !findings.some(({ severity }) => severity === 'error'),
  findings,
})

export const byPlace = (left: ValidationFinding, right: ValidationFinding): number =>
  left.file === right.file
    ? left.line - right.line || left.column - right.column
    : left.file < right.file
      ? -1
      : 1
