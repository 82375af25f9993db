import { describe, expect, it } from '@jest/globals'
import { createHash } from 'node:crypto'
import { mkdir, readdir, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type {
  Changes,
  LoadedDocument,
  LoadedRealm,
} from '../../../../dataplane/store/loaded-content.ts'
import { Snapshot, type SnapshotContents } from '../../../../dataplane/store/snapshot/snapshot.ts'
import {
  openSnapshotFiles,
  type SnapshotFiles,
} from '../../../../dataplane/store/snapshot/snapshot-files.ts'
import { createSilentLog } from '../../../../telemetry/log.ts'
import { seededRandom } from '../../../support/seeded-random.ts'
import { makeTempDir } from '../../../support/temp-dir.ts'
import { MemoryFiles } from '../memory-files.ts'
import { compact, expand } from '../../../../dataplane/store/packed/compact.ts'

const document = (id: string, text: string, ts = 1): LoadedDocument => ({
  id,
  digest: `digest of ${text}`,
  since: 5,
  managedBy: 'op',
  rank: 0,
  ts,
  warnings: [{ code: 'UnknownProperty', path: '/x', message: 'unknown' }],
  source: compact(JSON.stringify({ id, text })),
  variables: { key: 's3cret' },
  claims: [],
  forwards: { realmUri: 'com.acme', origins: [] },
})

const realm = (uri: string): LoadedRealm => ({ uri, digest: 'r', managedBy: null, record: { uri } })

const changes = (
  documents: readonly (readonly [string, LoadedDocument | null])[],
  realms: readonly (readonly [string, LoadedRealm | null])[] = [],
): Changes => ({ documents: new Map(documents), realms: new Map(realms) })

const put = (...documents: readonly LoadedDocument[]): Changes =>
  changes(documents.map((held) => [held.id, held]))

const open = (files: SnapshotFiles): Snapshot =>
  new Snapshot({ files, log: createSilentLog(), now: () => 77 })

const EMPTY_SHA256 = createHash('sha256').digest('hex')

const TENURE = { manager: 'op', epoch: 3, complete: true }

/** `id text` of each document, and the uris of realms. */
const contentsOf = ({ entries }: SnapshotContents): readonly string[] =>
  entries
    .map((entry) =>
      entry.kind === 'spec'
        ? `${entry.document.id} ${(JSON.parse(expand(entry.document.source).toString()) as { text: string }).text}`
        : entry.realm.uri,
    )
    .sort()

const textsOf = (texts: ReadonlyMap<string, string>): readonly string[] =>
  [...texts].map(([id, text]) => `${id} ${text}`).sort()

const FIRST = changes(
  [document('a', 'old'), document('b', 'old'), document('gone', 'old')].map((held) => [
    held.id,
    held,
  ]),
  [['r.old', realm('r.old')]],
)
const SECOND = changes(
  [
    ['a', document('a', 'new', 2)],
    ['c', document('c', 'new', 2)],
    ['gone', null],
  ],
  [
    ['r.old', null],
    ['r.new', realm('r.new')],
  ],
)
const BEFORE = ['a old', 'b old', 'gone old', 'r.old']
const AFTER = ['a new', 'b old', 'c new', 'r.new']

describe('a snapshot', () => {
  it('is empty at first', async () => {
    const contents = await open(new MemoryFiles()).load()
    expect(contents).toEqual({
      manager: null,
      epoch: 0,
      complete: false,
      entries: [],
      isIntact: false,
    })
  })

  it('gives back what was saved last, whole', async () => {
    const files = new MemoryFiles()
    const snapshot = open(files)
    await snapshot.load()
    expect(await snapshot.save(FIRST, TENURE)).toBe(true)
    expect(await snapshot.save(SECOND, { ...TENURE, epoch: 4 })).toBe(true)
    await snapshot.close()
    const contents = await open(files).load()
    expect(contentsOf(contents)).toEqual(AFTER)
    expect(contents).toMatchObject({ ...TENURE, epoch: 4, isIntact: true })
    const a = contents.entries.find((entry) => entry.kind === 'spec' && entry.document.id === 'a')
    const { rank, claims, forwards, ...stored } = document('a', 'new', 2)
    // What validating it again gives back.
    expect([rank, claims, forwards.origins]).toEqual([0, [], []])
    // It is compressed once it is known to be valid.
    const source = { plain: expand(stored.source) }
    expect(a).toEqual({ kind: 'spec', document: { ...stored, source } })
  })

  it('writes only what has changed', async () => {
    const files = new MemoryFiles()
    const snapshot = open(files)
    await snapshot.load()
    await snapshot.save(FIRST, TENURE)
    const before = files.operations
    await snapshot.save(put(document('a', 'old')), TENURE)
    // A line of the index: begun, written.
    expect(files.operations - before).toBe(2)
  })

  it('writes for a change what changed, however many documents there are', async () => {
    const files = new MemoryFiles()
    const snapshot = open(files)
    await snapshot.load()
    const many = Array.from({ length: 2000 }, (_, index) => document(`d${index}`, 'old'))
    await snapshot.save(put(...many), TENURE)
    files.bytesWritten = 0
    for (let edit = 0; edit < 400; edit++)
      await snapshot.save(put(document(`d${edit}`, `edit ${edit}`, 2)), TENURE)
    // Of 2000 names the index has 150 KB.
    expect(files.bytesWritten).toBeLessThan(400 * 1500)
    // And in the long run: it does not grow with the number of changes.
    for (let edit = 0; edit < 2000; edit++)
      await snapshot.save(put(document('d0', `again ${edit}`, 3)), TENURE)
    expect(files.files.get('index')?.length).toBeLessThan(3 * 150_000)
    expect(files.bytesWritten).toBeLessThan(2400 * 2000)
    await snapshot.close()
    const contents = await open(files).load()
    expect(contents.isIntact).toBe(true)
    expect(contentsOf(contents)).toContain('d0 again 1999')
    expect(contentsOf(contents)).toContain('d399 edit 399')
    expect(contents.entries).toHaveLength(2000)
  })

  it.each(Array.from({ length: 20 }, (_, seed) => seed))(
    'has all that was saved, and of what was being saved all or nothing, by chance %d',
    async (seed) => {
      const random = seededRandom(seed)
      const pick = (below: number): number => Math.floor(random() * below)
      let files = new MemoryFiles()
      let snapshot = open(files)
      await snapshot.load()
      let saved = new Map<string, string>()
      for (let step = 0; step < 60; step++) {
        const after = new Map(saved)
        const change = new Map<string, LoadedDocument | null>()
        for (let count = pick(4); count >= 0; count--) {
          const id = `d${pick(90)}`
          const text = `${step}`
          change.set(id, pick(4) === 0 ? null : document(id, text, step))
        }
        for (const [id, held] of change)
          if (held === null) after.delete(id)
          else after.set(id, `${step}`)
        const isKilled = pick(5) === 0
        if (isKilled) files.killAt = files.operations + 1 + pick(12)
        const isSaved = await snapshot.save(changes([...change]), { ...TENURE, epoch: step })
        expect(isSaved || isKilled).toBe(true)
        if (!isKilled) {
          saved = after
          continue
        }
        await snapshot.close()
        files = new MemoryFiles(files.files)
        snapshot = open(files)
        const contents = await snapshot.load()
        expect(contents.isIntact).toBe(step > 0 || contents.entries.length > 0)
        const found = contentsOf(contents)
        expect(isSaved ? [textsOf(after)] : [textsOf(saved), textsOf(after)]).toContainEqual(found)
        saved = new Map(found.map((line) => line.split(' ') as [string, string]))
      }
    },
  )
})

describe('a kill', () => {
  const killedAt = async (operation: number): Promise<MemoryFiles> => {
    const files = new MemoryFiles()
    const snapshot = open(files)
    await snapshot.load()
    await snapshot.save(FIRST, TENURE)
    files.operations = 0
    files.killAt = operation
    await snapshot.save(SECOND, TENURE)
    await snapshot.close()
    return new MemoryFiles(files.files)
  }

  // The change takes 19 operations: three files and the index three each, two syncs, three removals…
  it.each(Array.from({ length: 22 }, (_, n) => n + 1))(
    'at operation %d leaves the state before or after the change',
    async (operation) => {
      const files = await killedAt(operation)
      const contents = await open(files).load()
      expect([BEFORE, AFTER]).toContainEqual(contentsOf(contents))
      expect(contents.isIntact).toBe(true)
      // And what it left over is gone after the start.
      const entries = contents.entries.length
      expect([...files.files.keys()].filter((name) => name !== 'index')).toHaveLength(entries)
    },
  )

  it('happens before the index in some of these, after it in others', async () => {
    const [early, late] = [await killedAt(1), await killedAt(22)]
    expect(contentsOf(await open(early).load())).toEqual(BEFORE)
    expect(contentsOf(await open(late).load())).toEqual(AFTER)
  })
})

describe('damage', () => {
  const saved = async (): Promise<MemoryFiles> => {
    const files = new MemoryFiles()
    const snapshot = open(files)
    await snapshot.load()
    await snapshot.save(FIRST, TENURE)
    await snapshot.close()
    return files
  }
  const fileOf = (files: MemoryFiles, text: string): string => {
    const found = [...files.files].find(([name, bytes]) => name !== 'index' && bytes.includes(text))
    return found?.[0] ?? ''
  }

  it.each<[string, (bytes: Buffer) => Buffer]>([
    ['cut short', (bytes) => bytes.subarray(0, bytes.length - 1)],
    ['empty', () => Buffer.alloc(0)],
    ['with another byte', (bytes) => Buffer.from(bytes.toString().replace('old', 'odd'))],
    ['with more bytes', (bytes) => Buffer.concat([bytes, Buffer.from(' ')])],
  ])('of a file, %s: it is set aside, the others come back', async (_name, damage) => {
    const files = await saved()
    const name = fileOf(files, '"id":"a","text"')
    files.files.set(name, damage(files.files.get(name) ?? Buffer.alloc(0)))
    const contents = await open(files).load()
    expect(contentsOf(contents)).toEqual(['b old', 'gone old', 'r.old'])
    expect(contents).toMatchObject({ isIntact: false, complete: false, epoch: 3 })
    expect([...files.files.keys()]).toContain(`.damaged-77-${name}`)
  })

  it('of a file that is gone', async () => {
    const files = await saved()
    files.files.delete(fileOf(files, '"id":"a","text"'))
    const contents = await open(files).load()
    expect([contentsOf(contents).length, contents.isIntact]).toEqual([3, false])
  })

  it('of a file that cannot be read', async () => {
    const files = await saved()
    files.unreadable.add(fileOf(files, '"id":"a","text"'))
    expect(contentsOf(await open(files).load())).toHaveLength(3)
  })

  it.each<[string, Buffer]>([
    ['cut short', Buffer.from('abc')],
    ['empty', Buffer.alloc(0)],
    ['of another content', Buffer.from(`${'0'.repeat(64)}\n{"format":1,"files":[]}`)],
  ])('of the index, %s: whole files come back, the latest of each', async (_name, index) => {
    const files = await saved()
    const snapshot = open(new MemoryFiles(files.files))
    await snapshot.load()
    const both = new MemoryFiles(files.files)
    const other = open(both)
    await other.load()
    await other.save(put(document('a', 'newer', 9)), TENURE)
    await other.close()
    for (const [name, bytes] of files.files) if (!both.files.has(name)) both.files.set(name, bytes)
    both.files.set('index', index)
    const contents = await open(both).load()
    expect(contentsOf(contents)).toEqual(['a newer', 'b old', 'gone old', 'r.old'])
    expect(contents).toMatchObject({ isIntact: false, complete: false, manager: null })
    expect([...both.files.keys()]).toContain('.damaged-77-index')
  })

  it.each<[string, (index: string) => string]>([
    ['a line that others follow', (index) => index.replace('"epoch":4', '"epoch":6')],
    ['its last line', (index) => index.replace('"epoch":5', '"epoch":6')],
  ])('of the index, in %s: whole files come back', async (_name, damage) => {
    const files = new MemoryFiles()
    const snapshot = open(files)
    await snapshot.load()
    await snapshot.save(FIRST, TENURE)
    await snapshot.save(put(document('a', 'newer', 8)), { ...TENURE, epoch: 4 })
    await snapshot.save(put(document('a', 'newest', 9)), { ...TENURE, epoch: 5 })
    await snapshot.close()
    const index = files.files.get('index')?.toString() ?? ''
    expect(index.match(/\n/g)).toHaveLength(4)
    files.files.set('index', Buffer.from(damage(index)))
    const contents = await open(files).load()
    expect(contentsOf(contents)).toEqual(['a newest', 'b old', 'gone old', 'r.old'])
    expect(contents.isIntact).toBe(false)
  })

  // After a power cut a file may be as long as it would be, with zeros for the pages that were not written.
  it.each<[string, number, number]>([
    ['its beginning', 0, 50],
    ['its middle', 80, 120],
    ['its end', 50, -1],
    ['its end with the line break', 50, 0],
  ])('is not what a power cut leaves of the last line, %s zeroed', async (_name, from, to) => {
    const files = new MemoryFiles()
    const snapshot = open(files)
    await snapshot.load()
    await snapshot.save(FIRST, TENURE)
    const before = new Map(files.files)
    await snapshot.save(SECOND, { ...TENURE, epoch: 4 })
    const length = before.get('index')?.length ?? 0
    const index = Buffer.from(files.files.get('index') ?? [])
    index.fill(0, length + from, to > 0 ? length + to : index.length + to)
    const cut = new MemoryFiles([...files.files, ...before, ['index', index]])
    const contents = await open(cut).load()
    expect(contentsOf(contents)).toEqual(BEFORE)
    expect(contents).toMatchObject({ ...TENURE, isIntact: true })
    await snapshot.close()
  })

  it.each<[string, (index: string) => string]>([
    ['as a whole', () => `${EMPTY_SHA256}\n\n`],
    ['in a line', (index) => `${index}${EMPTY_SHA256} \n`],
  ])(
    'of the index, with the checksum of nothing %s, is no reason to stop',
    async (_name, damage) => {
      const files = await saved()
      files.files.set('index', Buffer.from(damage(files.files.get('index')?.toString() ?? '')))
      const contents = await open(files).load()
      expect(contentsOf(contents)).toEqual(BEFORE)
      expect(contents.isIntact).toBe(false)
    },
  )

  it('is not found in the index of an earlier version', async () => {
    const files = await saved()
    const [, text = ''] = files.files.get('index')?.toString().split('\n') ?? []
    const earlier = text.replace('"format":2', '"format":1')
    const checksum = createHash('sha256').update(earlier).digest('hex')
    files.files.set('index', Buffer.from(`${checksum}\n${earlier}`))
    const snapshot = open(files)
    expect(await snapshot.load()).toMatchObject({ ...TENURE, isIntact: true })
    await snapshot.save(put(document('a', 'newer', 9)), { ...TENURE, epoch: 4 })
    await snapshot.save(put(document('b', 'newer', 9)), { ...TENURE, epoch: 5 })
    await snapshot.close()
    const contents = await open(files).load()
    expect(contentsOf(contents)).toEqual(['a newer', 'b newer', 'gone old', 'r.old'])
    expect(contents).toMatchObject({ epoch: 5, isIntact: true })
  })

  it('by a file of somebody else: it is set aside, once', async () => {
    const files = await saved()
    files.files.set('notes.txt', Buffer.from('mine'))
    expect((await open(files).load()).isIntact).toBe(true)
    expect((await open(files).load()).isIntact).toBe(true)
    expect([...files.files.keys()].filter((name) => name.includes('notes'))).toEqual([
      '.damaged-77-notes.txt',
    ])
  })

  it('is no reason to stop, even where nothing can be renamed or removed', async () => {
    const files = await saved()
    files.files.set('notes.txt', Buffer.from('mine'))
    files.files.set('.tmp-x', Buffer.from('half'))
    files.killAt = 0
    expect(contentsOf(await open(files).load())).toEqual(BEFORE)
  })
})

describe('a full disk', () => {
  it('costs nothing but the snapshot: what was missed is written later', async () => {
    const files = new MemoryFiles()
    const snapshot = open(files)
    await snapshot.load()
    files.isFull = true
    expect(await snapshot.save(FIRST, TENURE)).toBe(false)
    expect(await snapshot.save(SECOND, TENURE)).toBe(false)
    files.isFull = false
    expect(await snapshot.save(changes([]), TENURE)).toBe(true)
    expect(contentsOf(await open(files).load())).toEqual(AFTER)
  })

  it('keeps no files of versions that no index has named', async () => {
    const files = new MemoryFiles()
    const snapshot = open(files)
    await snapshot.load()
    await snapshot.save(put(document('a', 'old')), TENURE)
    for (const text of ['second', 'third']) {
      // The file of the document is written, the index is not.
      files.killAt = files.operations + 5
      expect(await snapshot.save(put(document('a', text, 2)), TENURE)).toBe(false)
      files.killAt = Infinity
    }
    expect(files.files.size).toBe(4)
    expect(await snapshot.save(put(document('a', 'last', 3)), TENURE)).toBe(true)
    await snapshot.close()
    expect(files.files.size).toBe(2)
    expect(contentsOf(await open(files).load())).toEqual(['a last'])
  })
})

describe('on a real disk', () => {
  it('what could not be written whole takes no room', async () => {
    await using dir = await makeTempDir()
    const files = await openSnapshotFiles(dir.path)
    await mkdir(join(dir.path, 'loaded', 'taken'))
    await expect(files.write('taken', Buffer.from('x'))).rejects.toThrow()
    expect(await files.list()).toEqual(['taken'])
  })

  it('files are private, damage is found, what was set aside stays', async () => {
    await using dir = await makeTempDir()
    const directory = join(dir.path, 'loaded')
    const snapshot = open(await openSnapshotFiles(dir.path))
    await snapshot.load()
    await snapshot.save(FIRST, TENURE)
    await snapshot.save(SECOND, TENURE)
    await snapshot.close()
    const names = await readdir(directory)
    expect(await readdir(dir.path)).toEqual(['loaded'])
    expect(names).toHaveLength(5)
    const modes = await Promise.all(
      names.map(async (name) => (await stat(join(directory, name))).mode & 0o777),
    )
    expect(new Set(modes)).toEqual(new Set([0o600]))
    expect((await stat(directory)).mode & 0o777).toBe(0o700)

    const victim = names.find((name) => name.startsWith('realm')) ?? ''
    await truncate(join(directory, victim), 10)
    await writeFile(join(directory, '.tmp-left'), 'half')
    const again = open(await openSnapshotFiles(dir.path))
    expect(contentsOf(await again.load())).toEqual(['a new', 'b old', 'c new'])
    expect((await readdir(directory)).filter((name) => name.startsWith('.'))).toEqual([
      `.damaged-77-${victim}`,
    ])
    await again.setAside('spec', 'a', 'it is no longer valid')
    await again.setAside('spec', 'nobody', 'it was never there')
    await again.save(changes([]), TENURE)
    const last = await open(await openSnapshotFiles(dir.path)).load()
    expect([contentsOf(last), last.isIntact]).toEqual([['b old', 'c new'], true])
  })
})
