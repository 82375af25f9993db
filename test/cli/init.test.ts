// Tests the files that `svc init` writes: they are valid, they work, and nothing is overwritten.

import { spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { parse } from 'yaml'
import { CI_SERVICES, starterFiles } from '../../cli/starter-files.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { svc } from './run-svc.ts'

describe('svc init', () => {
  it('writes documents that are valid', async () => {
    await using dir = await makeTempDir()
    expect(await svc(['init', dir.path])).toMatchObject({ code: 0 })
    expect(await svc(['validate', '--strict', join(dir.path, 'apis')])).toEqual({
      code: 0,
      stdout: '',
      stderr: '1 file with 1 document, 1 realm: 0 errors, 0 warnings\n',
    })
  })

  it.each<[string, readonly string[], readonly string[]]>([
    ['without a job nothing', [], []],
    ['for github its package', ['--ci', 'github'], ['npm pack', 'SVC_PACKAGE', '--strict']],
    ['for gitlab its package', ['--ci', 'gitlab'], ['npm pack', 'SVC_PACKAGE', '--strict']],
    ['for pre-commit the program', ['--ci', 'pre-commit'], ['npm install --global', '--strict']],
  ])('says what is needed beside the files: %s', async (_, flags, words) => {
    await using dir = await makeTempDir()
    const { stderr } = await svc(['init', dir.path, ...flags])
    expect(stderr.split('\n')).toHaveLength(words.length === 0 ? 2 : 3)
    for (const each of words) expect(stderr).toContain(each)
  })

  it('keeps a file that is there, says so, and writes the others', async () => {
    await using dir = await makeTempDir()
    await writeFile(join(dir.path, '.svc.schema.json'), 'mine')
    const { code, stdout, stderr } = await svc(['init', dir.path])
    expect(code).toBe(1)
    expect(stdout).toContain('hello.yaml')
    expect(stderr).toContain('.svc.schema.json is there already, and stays as it is')
    expect(await readFile(join(dir.path, '.svc.schema.json'), 'utf8')).toBe('mine')
  })

  it.each(CI_SERVICES)('the job for %s runs a command line that svc has', async (service) => {
    const [line] = commandLines(service)
    expect(line).toBeDefined()
    await using dir = await makeTempDir()
    await svc(['init', dir.path])
    // The shell splits the words; what runs is this checkout instead of a package.
    const words = `set -- ${line?.replace(/^.*svc validate/, 'validate') ?? ''}; printf '%s\\n' "$@"`
    const split = spawnSync('sh', ['-c', words.replace(/ > [a-z.]+/, '')], { encoding: 'utf8' })
    const argv = split.stdout.trim().split('\n')
    const inDirectory = argv.map((word) => (word === 'apis' ? join(dir.path, word) : word))
    expect(await svc(inDirectory)).toMatchObject({ code: 0 })
  })
})

/** Lines of the file of a service that run svc. */
const commandLines = (service: (typeof CI_SERVICES)[number]): readonly string[] => {
  const text = starterFiles(service).at(-1)?.text ?? ''
  const found: string[] = []
  const collect = (value: unknown): void => {
    if (typeof value === 'string') {
      if (value.includes('svc validate ')) found.push(value)
    } else if (typeof value === 'object' && value !== null) Object.values(value).forEach(collect)
  }
  collect(parse(text))
  return found
}
