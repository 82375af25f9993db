import { rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals'
import { watchFiles } from '../../dataplane/watched-files.ts'
import { makeTempDir } from '../support/temp-dir.ts'

beforeEach(() => {
  jest.useFakeTimers()
})

afterEach(() => {
  jest.useRealTimers()
})

const pass = (ms: number): void => {
  jest.advanceTimersByTime(ms)
}

it('gives contents at once and after each change, also when a symlink is swapped', async () => {
  await using dir = await makeTempDir()
  const [one, two, link] = ['one', 'two', 'link'].map((name) => join(dir.path, name)) as [
    string,
    string,
    string,
  ]
  await writeFile(one, '1')
  await writeFile(two, '2')
  await symlink(one, link)
  const seen: string[] = []
  const watch = watchFiles({
    paths: [link],
    onContents: ([content]) => seen.push(String(content)),
    onFailure: () => undefined,
  })
  expect(seen).toEqual(['1'])
  await symlink(two, `${link}.new`)
  await rename(`${link}.new`, link)
  pass(1999)
  expect(seen).toEqual(['1'])
  pass(1)
  expect(seen).toEqual(['1', '2'])
  watch.close()
})

it('tells once that a file is missing, and once of contents that are refused', async () => {
  await using dir = await makeTempDir()
  const path = join(dir.path, 'file')
  const failures: string[] = []
  const taken: string[] = []
  const watch = watchFiles({
    paths: [path],
    onContents: ([content]) => {
      if (String(content) === 'bad') throw new Error('refused')
      taken.push(String(content))
    },
    onFailure: (error) => failures.push(error.message),
  })
  pass(10_000)
  expect(failures).toEqual([expect.stringContaining('ENOENT')])
  await writeFile(`${path}.new`, 'bad')
  await rename(`${path}.new`, path)
  pass(2000)
  expect(failures).toHaveLength(2)
  pass(10_000)
  expect(failures.slice(1)).toEqual(['refused'])
  await writeFile(`${path}.new`, 'good')
  await rename(`${path}.new`, path)
  pass(2000)
  expect(taken).toEqual(['good'])
  await rm(path)
  pass(2000)
  expect(failures).toHaveLength(3)
  watch.close()
})
