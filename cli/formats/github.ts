// Writes diagnostics as the workflow commands that GitHub Actions shows as annotations of a pull request.

import type { ValidationDiagnostic } from '../validate/validation-diagnostic.ts'

/**
 * One line for each diagnostic (docs.github.com, "Workflow commands for GitHub Actions").
 * @example diagnosticsForGitHub([diagnostic])[0] // '::error file=a.yaml,line=3,col=5,title=conflict::/host …'
 */
export const diagnosticsForGitHub = (
  diagnostics: readonly ValidationDiagnostic[],
): readonly string[] =>
  diagnostics.map(({ severity, file, line, column, resource, path, code, message }) => {
    const place = `file=${property(file)},line=${line},col=${column},title=${property(code)}`
    const words = [resource, path, message].filter((part) => part !== '').join(' ')
    return `::${severity} ${place}::${data(words)}`
  })

/** What a file is called, and what it says, must not end the command or begin another one. */
const data = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')

const property = (text: string): string => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
