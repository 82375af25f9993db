// Examples that name the ports they run on.

import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from '@jest/globals'
import { placeExamples } from '../../dev/example-directory.ts'
import { USUAL_PORTS } from '../../dev/ports.ts'
import { makeTempDir } from '../support/temp-dir.ts'

const TEXT = [
  '# curl http://127.0.0.1:18080/x http://localhost:18080/',
  'backend: http://127.0.0.1:18090',
  'router: ws://127.0.0.1:18091/',
  'issuer: http://127.0.0.1:18092',
  'others: http://127.0.0.1:9 http://127.0.0.2:18080 http://a.b:18080',
].join('\n')

it('are used where they lie on the usual ports', async () => {
  await using directory = await makeTempDir()
  const placed = await placeExamples(directory.path, USUAL_PORTS)
  expect(placed).toMatchObject({ path: directory.path, isCopy: false })
  await placed.remove()
  expect((await stat(directory.path)).isDirectory()).toBe(true)
})

it('are copied for others, and the copy is removed', async () => {
  await using directory = await makeTempDir()
  await writeFile(join(directory.path, 'a.yaml'), TEXT)
  await writeFile(join(directory.path, 'b.txt'), TEXT)
  const others = { public: 1, backend: 2, router: 18090, idp: 3 }
  const placed = await placeExamples(directory.path, others)
  expect(placed.isCopy).toBe(true)
  const copied = await readFile(join(placed.path, 'a.yaml'), 'utf8')
  expect(copied.split('\n')).toEqual([
    '# curl http://127.0.0.1:1/x http://localhost:1/',
    'backend: http://127.0.0.1:2',
    'router: ws://127.0.0.1:18090/',
    'issuer: http://127.0.0.1:3',
    'others: http://127.0.0.1:9 http://127.0.0.2:18080 http://a.b:18080',
  ])
  await expect(stat(join(placed.path, 'b.txt'))).rejects.toThrow('ENOENT')
  await placed.remove()
  await expect(stat(placed.path)).rejects.toThrow('ENOENT')
  expect(await readFile(join(directory.path, 'a.yaml'), 'utf8')).toBe(TEXT)
})
