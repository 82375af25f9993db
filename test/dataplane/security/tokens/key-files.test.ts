import { describe, expect, it } from '@jest/globals'
import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { loadKeyRing, watchKeyRing } from '../../../../dataplane/security/tokens/key-files.ts'
import { createKeyRing, type KeyRing } from '../../../../language/realm/key-ring.ts'
import { StartError } from '../../../../dataplane/start-error.ts'
import { eventually } from '../../../support/eventually.ts'
import { makeTempDir } from '../../../support/temp-dir.ts'

describe('loadKeyRing', () => {
  it('makes a ring once, for its owner only', async () => {
    await using dir = await makeTempDir()
    const state = join(dir.path, 'state')
    const made = await loadKeyRing(state, 'signing', randomBytes)
    expect(await loadKeyRing(state, 'signing', randomBytes)).toEqual(made)
    expect(await loadKeyRing(state, 'oidc-state', randomBytes)).not.toEqual(made)
    const keys = join(state, 'keys')
    expect((await readdir(keys)).sort()).toEqual(['oidc-state.json', 'signing.json'])
    expect((await stat(keys)).mode & 0o777).toBe(0o700)
    expect((await stat(join(keys, 'signing.json'))).mode & 0o777).toBe(0o600)
  })

  it('is not stopped by what a killed process has left', async () => {
    await using dir = await makeTempDir()
    await mkdir(join(dir.path, 'keys'))
    await writeFile(join(dir.path, 'keys', 'signing.json.tmp'), '{"keys"', { mode: 0o644 })
    const ring = await loadKeyRing(dir.path, 'signing', randomBytes)
    const path = join(dir.path, 'keys', 'signing.json')
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(ring)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })

  it('keeps a broken file and says where it is, not what stands in it', async () => {
    await using dir = await makeTempDir()
    const path = join(dir.path, 'keys', 'signing.json')
    await mkdir(join(dir.path, 'keys'))
    await writeFile(path, '{"keys": [{"kid": "a", "k": "c2VjcmV0"}]}')
    const failure = loadKeyRing(dir.path, 'signing', randomBytes)
    await expect(failure).rejects.toThrow(StartError)
    await expect(failure).rejects.toThrow(
      `the key file ${path} is not valid: "k" of key 1 must be 32 bytes in base64url`,
    )
    expect(await readFile(path, 'utf8')).toContain('c2VjcmV0')
  })

  it('says what it can not read or write', async () => {
    await using dir = await makeTempDir()
    await mkdir(join(dir.path, 'keys', 'signing.json'), { recursive: true })
    await expect(loadKeyRing(dir.path, 'signing', randomBytes)).rejects.toThrow(
      /^cannot read the key file .*signing\.json: .*EISDIR/,
    )
    await writeFile(join(dir.path, 'file'), '')
    await expect(loadKeyRing(join(dir.path, 'file'), 'signing', randomBytes)).rejects.toThrow(
      StartError,
    )
  })
})

describe('watchKeyRing', () => {
  const textOf = (ring: KeyRing): string => JSON.stringify(ring)

  it('follows the file and keeps the last good ring', async () => {
    await using dir = await makeTempDir()
    const path = join(dir.path, 'state-keys.json')
    // Otherwise the watch may read it between the two steps of writing.
    const replace = async (text: string): Promise<void> => {
      await writeFile(`${path}.new`, text)
      await rename(`${path}.new`, path)
    }
    const [first, second] = [createKeyRing(randomBytes), createKeyRing(randomBytes)]
    await writeFile(path, textOf(first))
    const rings: KeyRing[] = []
    const failures: string[] = []
    const watch = watchKeyRing({
      path,
      onRing: (ring) => rings.push(ring),
      onFailure: (error) => failures.push(error.message),
      intervalMs: 5,
    })
    try {
      expect(rings).toEqual([first])
      await replace('{"keys": []}')
      await eventually(() => {
        expect(failures[0]).toContain('"keys" must be a list')
      })
      expect(rings).toEqual([first])
      await replace(textOf({ keys: [...second.keys, ...first.keys] }))
      await eventually(() => {
        expect(rings).toHaveLength(2)
      })
      expect(rings[1]?.keys).toEqual([...second.keys, ...first.keys])
    } finally {
      watch.close()
    }
  })

  it.each([
    ['is not there', undefined, 'cannot read the key file'],
    ['is broken', '{}', 'is not valid: "keys" must be a list'],
  ])('does not start when the file %s', async (_, text, message) => {
    await using dir = await makeTempDir()
    const path = join(dir.path, 'state-keys.json')
    if (text !== undefined) await writeFile(path, text)
    const start = (): unknown =>
      watchKeyRing({ path, onRing: () => undefined, onFailure: () => undefined })
    expect(start).toThrow(StartError)
    expect(start).toThrow(message)
  })
})
