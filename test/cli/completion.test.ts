// Tests the completion scripts: bash completes by its own, the others name every command and setting.

import { spawnSync } from 'node:child_process'
import { describe, expect, it } from '@jest/globals'
import { COMMANDS } from '../../cli/commands.ts'
import { svc } from './run-svc.ts'

/** What bash offers after these words. */
const offered = async (words: readonly string[]): Promise<readonly string[]> => {
  const { stdout: script } = await svc(['completion', 'bash'])
  const list = words.map((word) => `'${word}'`).join(' ')
  const ask = `COMP_WORDS=(svc ${list}); COMP_CWORD=${words.length}; _svc; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, stderr } = spawnSync('bash', ['-c', `${script}\n${ask}`], { encoding: 'utf8' })
  expect(stderr).toBe('')
  return stdout.trim().split('\n')
}

describe('bash', () => {
  it.each<[readonly string[], readonly string[]]>([
    [['val'], ['validate']],
    [['validate', '--out'], ['--output']],
    [['validate', '--output', 's'], ['sarif']],
    [
      ['validate', '-o', 'j'],
      ['json', 'junit'],
    ],
    [
      ['init', '--ci', 'git'],
      ['github', 'gitlab'],
    ],
    [['help', 'ver'], ['version']],
    [['validate', 'ap'], ['']],
  ])('offers after %j', async (words, wanted) => {
    expect(await offered(words)).toEqual(wanted)
  })
})

it.each(['zsh', 'fish'])('%s: every command and its settings are there', async (shell) => {
  const { code, stdout } = await svc(['completion', shell])
  expect(code).toBe(0)
  for (const name of Object.keys(COMMANDS)) expect(stdout).toContain(name)
  expect(stdout).toMatch(/(?:--|-l )strict/)
  expect(stdout).toMatch(/(?:-o\[\]:value:\(text json\)|-s o -l output -x -a 'text json')/)
})

it('another shell is refused with the list of those there are', async () => {
  expect(await svc(['completion', 'tcsh'])).toMatchObject({
    code: 2,
    stderr: 'svc completion: name a shell: bash, zsh, fish\n',
  })
})
