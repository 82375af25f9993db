// What is read of --tls-dir, and what is not: bounds in files and bytes, each with a line that says what to do.

import { execFileSync } from 'node:child_process'
import { linkSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { watchTlsDirectory } from '../../../../dataplane/listen/tls/certificate-directory.ts'
import { createLog } from '../../../../telemetry/log.ts'
import { createCertificateAuthority } from '../../../support/certificates.ts'
import { makeTempDir, type TempDir } from '../../../support/temp-dir.ts'

const authority = createCertificateAuthority('authority')
let dir: TempDir

beforeEach(async () => {
  dir = await makeTempDir()
})

afterEach(async () => {
  await dir[Symbol.asyncDispose]()
})

const put = async (folder: string, files: Readonly<Record<string, string>>): Promise<void> => {
  await mkdir(join(dir.path, folder))
  for (const [name, text] of Object.entries(files))
    await writeFile(join(dir.path, folder, name), text)
}

const good = async (folder: string): Promise<void> => {
  const { cert, key } = authority.issue(folder, { names: [`${folder}.test`] })
  await put(folder, { 'tls.crt': cert, 'tls.key': key })
}

/** Folders that are served after one look, and what was logged. */
const look = async (): Promise<{ readonly folders: readonly string[]; readonly log: string }> => {
  let folders: readonly string[] = []
  const lines: string[] = []
  const log = createLog({
    level: 'warn',
    name: 'test',
    destination: { write: (line) => lines.push(line) },
  })
  const watch = await watchTlsDirectory({
    directory: dir.path,
    log,
    intervalMs: 1_000_000,
    onHosts: (hosts) => (folders = hosts.map(({ folder }) => folder)),
  })
  watch.close()
  return { folders, log: lines.join('') }
}

describe('the directory of TLS certificates', () => {
  it('a file that is far too large is not read, and named', async () => {
    await good('a')
    const { cert, key } = authority.issue('b', { names: ['b.test'] })
    await put('b', { 'tls.crt': cert + '\n'.repeat(256 * 1024), 'tls.key': key })
    const { folders, log } = await look()
    expect(folders).toEqual(['a'])
    expect(log).toMatch(/b\/tls\.crt is larger than 262144 bytes/)
  })

  it.each([
    ['a pipe', 'mkfifo'],
    ['a folder', 'mkdir'],
  ])('%s instead of a file holds nothing up', async (_, make) => {
    await good('b')
    await put('a', { 'tls.key': 'x' })
    execFileSync(make, [join(dir.path, 'a', 'tls.crt')])
    const { folders, log } = await look()
    expect(folders).toEqual(['b'])
    expect(log).toMatch(/a\/tls\.crt is not a regular file/)
  })

  it('is read up to a bound of bytes, in the order of names', async () => {
    await good('a')
    const half = 'x'.repeat(250 * 1024)
    for (let index = 0; index < 35; index += 1)
      await put(`m-${String(index).padStart(2, '0')}`, { 'tls.crt': half, 'tls.key': half })
    await good('z')
    const { folders, log } = await look()
    expect(folders).toEqual(['a'])
    expect(log).toMatch(/more than 16777216 bytes together: the folders from 'm-32' on are ignored/)
  })

  it('is not read at all where there is no end of entries', async () => {
    await good('a')
    // Names of one file: thousands of files take seconds to make.
    const entry = join(dir.path, '1')
    await writeFile(entry, '')
    for (let name = 2; name <= 10_000; name += 1) linkSync(entry, join(dir.path, String(name)))
    const { folders, log } = await look()
    expect(folders).toEqual([])
    expect(log).toContain('more than 10000 entries: the directory is not read')
  })
})
