// Examples that name the ports they run on.

import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from '@jest/globals'
import { placeExamples } from '../../dev/example-directory.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const TEXT = '# curl http://127.0.0.1:18080/x\nbackend: http://127.0.0.1:18090\n'

it('are used where they lie on the usual ports', async () => {
  await using directory = await makeTempDir()
  const usual = { public: '127.0.0.1:18080', backend: '127.0.0.1:18090' }
  const placed = await placeExamples(directory.path, usual)
  expect(placed).toMatchObject({ path: directory.path, isCopy: false })
  await placed.remove()
  expect((await stat(directory.path)).isDirectory()).toBe(true)
})

it('are copied for others, and the copy is removed', async () => {
  await using directory = await makeTempDir()
  await writeFile(join(directory.path, 'a.yaml'), TEXT)
  await writeFile(join(directory.path, 'b.txt'), TEXT)
  const others = { public: '127.0.0.1:1', backend: '127.0.0.1:2' }
  const placed = await placeExamples(directory.path, others)
  expect(placed.isCopy).toBe(true)
  const copied = await readFile(join(placed.path, 'a.yaml'), 'utf8')
  expect(copied).toBe('# curl http://127.0.0.1:1/x\nbackend: http://127.0.0.1:2\n')
  await expect(stat(join(placed.path, 'b.txt'))).rejects.toThrow('ENOENT')
  await placed.remove()
  await expect(stat(placed.path)).rejects.toThrow('ENOENT')
  expect(await readFile(join(directory.path, 'a.yaml'), 'utf8')).toBe(TEXT)
})
