// Writes diagnostics as the workflow commands that GitHub Actions shows as annotations of a pull request.

import type { ValidationDiagnostic } from '../validate/validation-diagnostic.ts'

/**
 * One line for each diagnostic (docs.github.com, "Workflow commands for GitHub Actions").
 * @example diagnosticsForGitHub([diagnostic])[0] // '::error file=a.yaml,line=3,col=5,title=conflict::/host …'
 */
export const diagnosticsForGitHub = (
  diagnostics: readonly ValidationDiagnostic[],
): readonly string[] =>
  diagnostics.map(({ severity, resource, path, message, code, ...place }) => {
    const words = [resource, path, message].filter((part) => part !== '').join(' ')
    return workflowCommand(severity, { ...place, title: code }, words)
  })

interface Place {
  /** Empty: it is in no file. */
  readonly file: string
  readonly line: number
  readonly column: number
  readonly title: string
}

export const workflowCommand = (
  level: 'error' | 'warning' | 'notice',
  { file, line, column, title }: Place,
  words: string,
): string => {
  const at = file === '' ? '' : `file=${property(file)},line=${line},col=${column},`
  return `::${level} ${at}title=${property(title)}::${data(words)}`
}

/** What a file is called, and what it says, must not end the command or begin another one. */
const data = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')

const property = (text: string): string => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
