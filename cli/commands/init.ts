// Writes the files with which a repository of API documents begins. Never overwrites one.

import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { defineCommand } from '../command.ts'
import { CI_NEEDS, CI_SERVICES, starterFiles } from '../starter-files.ts'

export const init = defineCommand(
  {
    program: 'svc init',
    summary:
      'writes a first Realm and API, the schema for editors, and a CI job; overwrites nothing',
    operands: 'DIR',
    envPrefix: 'SVC_INIT_',
    settings: {
      ci: {
        type: 'enum',
        values: CI_SERVICES,
        default: null,
        help: 'a job that validates each change',
        reason: 'repositories with a pipeline',
      },
    },
    examples: [['svc init . --ci github', 'in the repository of your documents']],
  },
  async ({ settings: { ci }, operands }, { print, complain }) => {
    const [directory = '.'] = operands
    if (operands.length > 1) {
      complain('svc init: name one directory\n')
      return 2
    }
    let isComplete = true
    for (const { path, text } of starterFiles(ci)) {
      const file = join(directory, path)
      await mkdir(dirname(file), { recursive: true })
      if (await writeNew(file, text)) print(`${file}\n`)
      else {
        isComplete = false
        complain(`svc init: ${file} is there already, and stays as it is\n`)
      }
    }
    complain(`Next: svc validate ${join(directory, 'apis')}\n`)
    if (ci !== null) complain(`${CI_NEEDS[ci]}\n`)
    return isComplete ? 0 : 1
  },
)

const writeNew = async (file: string, text: string): Promise<boolean> => {
  try {
    await writeFile(file, text, { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}
