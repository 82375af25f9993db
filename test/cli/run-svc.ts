// Runs a command line of svc within the test, with texts in place of a terminal.

import { runSvc } from '../../cli/svc.ts'

export interface SvcRun {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface SvcTerminal {
  readonly stdin?: string
  readonly isColoured?: boolean
}

/** @example await svc(['validate', 'examples']) // { code: 0, stdout: '', stderr: '24 files …' } */
export const svc = async (
  argv: readonly string[],
  { stdin = '', isColoured = false }: SvcTerminal = {},
): Promise<SvcRun> => {
  let [stdout, stderr] = ['', '']
  const code = await runSvc(argv, {
    readStdin: () => Promise.resolve(stdin),
    print: (text) => (stdout += text),
    complain: (text) => (stderr += text),
    env: {},
    isColoured,
  })
  return { code, stdout, stderr }
}
