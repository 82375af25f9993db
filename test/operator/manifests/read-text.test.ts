import { describe, expect, it } from '@jest/globals'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readText } from '../../../operator/manifests/read-text.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

describe('readText', () => {
  it.each([
    ['text', Buffer.from('größe: ✓'), 'größe: ✓'],
    ['a byte order mark', Buffer.from('\ufeffa: 1'), 'a: 1'],
    ['nothing', Buffer.alloc(0), ''],
  ])('reads %s', async (_name, bytes, expected) => {
    await using dir = await makeTempDir()
    const path = join(dir.path, 'file.yaml')
    await writeFile(path, bytes)
    expect(await readText(path)).toBe(expected)
  })

  it.each([
    ['a byte that begins nothing', [0x61, 0xff]],
    ['half a character', [0xc3]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
  ])('refuses %s', async (_name, bytes) => {
    await using dir = await makeTempDir()
    const path = join(dir.path, 'file.yaml')
    await writeFile(path, Buffer.from(bytes))
    await expect(readText(path)).rejects.toThrow(/utf-8/i)
  })
})
