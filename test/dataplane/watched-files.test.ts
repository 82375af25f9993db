import { rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from '@jest/globals'
import { watchFiles } from '../../dataplane/watched-files.ts'
import { eventually } from '../support/eventually.ts'
import { makeTempDir } from '../support/temp-dir.ts'

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
    intervalMs: 10,
  })
  expect(seen).toEqual(['1'])
  await symlink(two, `${link}.new`)
  await rename(`${link}.new`, link)
  await eventually(() => {
    expect(seen).toEqual(['1', '2'])
  })
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
    intervalMs: 5,
  })
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(failures).toEqual([expect.stringContaining('ENOENT')])
  await writeFile(`${path}.new`, 'bad')
  await rename(`${path}.new`, path)
  await eventually(() => {
    expect(failures).toHaveLength(2)
  })
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(failures.slice(1)).toEqual(['refused'])
  await writeFile(`${path}.new`, 'good')
  await rename(`${path}.new`, path)
  await eventually(() => {
    expect(taken).toEqual(['good'])
  })
  await rm(path)
  await eventually(() => {
    expect(failures).toHaveLength(3)
  })
  watch.close()
})
