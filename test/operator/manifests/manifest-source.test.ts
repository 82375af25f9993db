import { link, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from '@jest/globals'
import {
  type ManifestOptions,
  ManifestSource,
} from '../../../operator/manifests/manifest-source.ts'
import type { Resource } from '../../../operator/resource/resource.ts'
import { createSilentLog } from '../../../telemetry/log.ts'
import { eventually } from '../../support/eventually.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

interface Fixture {
  readonly source: ManifestSource
  readonly root: string
  readonly changes: () => number
  /** The names at each change. */
  readonly seen: (readonly string[])[]
  readonly write: (name: string, text: string) => Promise<void>
}

const aSource = async (
  files: Readonly<Record<string, string>> = {},
  options: Partial<ManifestOptions> = {},
): Promise<Fixture> => {
  const dir: TempDir = await makeTempDir()
  closing.push(async () => dir[Symbol.asyncDispose]())
  const root = join(dir.path, 'manifests')
  await mkdir(root)
  const write = (name: string, text: string): Promise<void> => writeFile(join(root, name), text)
  for (const [name, text] of Object.entries(files)) await write(name, text)
  const source = new ManifestSource({
    directory: root,
    log: createSilentLog(),
    debounceMs: 20,
    ...options,
  })
  closing.push(() => source.stop())
  const seen: (readonly string[])[] = []
  await source.start(() => seen.push(names({ source })))
  return { source, root, changes: () => seen.length, seen, write }
}

const secret = (name: string, value = 'x'): string =>
  `apiVersion: v1\nkind: Secret\nmetadata: {name: ${name}}\nstringData: {key: ${value}}\n`

const names = ({ source }: Pick<Fixture, 'source'>): readonly string[] =>
  [...source.current().resources.keys()].map((key) => key.split('/').at(-1) ?? '').sort()

const find = ({ source }: Fixture, name: string): Resource => {
  const resource = source.current().resources.get(`Secret/default/${name}`)
  if (resource === undefined) throw new Error(`${name} is not there`)
  return resource
}

describe('a directory of manifests', () => {
  it('is read at once, also when it is empty', async () => {
    const fixture = await aSource()
    expect(fixture.source.synced()).toBe(true)
    expect(fixture.changes()).toBe(1)
    expect(names(fixture)).toEqual([])
    await fixture.write('a.yaml', secret('a'))
    await eventually(() => {
      expect(names(fixture)).toEqual(['a'])
    })
  })

  it('finds where a value stands in a file as it is now', async () => {
    const fixture = await aSource({ 'a.yaml': `${secret('b')}---\n${secret('a')}` })
    const { locate } = fixture.source
    expect(locate(find(fixture, 'a'), '/stringData/key')).toEqual({ line: 9, column: 19 })
    expect(locate(find(fixture, 'a'), '/nothing')).toEqual({ line: 6, column: 1 })
    const gone = find(fixture, 'b')
    await fixture.write('a.yaml', `# a comment\n${secret('a')}`)
    await eventually(() => {
      expect(locate(find(fixture, 'a'), '/stringData/key')).toEqual({ line: 5, column: 19 })
    })
    expect(locate(gone, '/stringData/key')).toBeUndefined()
    await fixture.write('a.yaml', 'a: [')
    await eventually(() => {
      expect(locate(find(fixture, 'a'), '')).toBeUndefined()
    })
  })

  it('resources have an identity, an age, a place, and a generation that counts changes of content', async () => {
    const fixture = await aSource({ 'a.yaml': secret('a'), 'b.yaml': secret('b') })
    const [before, other] = [find(fixture, 'a'), find(fixture, 'b')]
    expect(before.metadata).toMatchObject({ generation: 1, uid: 'manifest:Secret/default/a' })
    expect(before.origin).toEqual({ file: join(fixture.root, 'a.yaml'), line: 1, column: 1 })
    await fixture.write('a.yaml', `# a comment\n${secret('a')}`)
    await eventually(() => {
      expect(find(fixture, 'a').origin?.line).toBe(2)
    })
    expect(find(fixture, 'a').metadata).toEqual(before.metadata)
    await fixture.write('a.yaml', secret('a', 'other'))
    await eventually(() => {
      expect(find(fixture, 'a').metadata.generation).toBe(2)
    })
    const after = find(fixture, 'a').metadata
    expect(after.createdAt).toBe(before.metadata.createdAt)
    expect(after.resourceVersion).not.toBe(before.metadata.resourceVersion)
    expect(find(fixture, 'b')).toBe(other)
  })

  it('metadata alone is no new generation', async () => {
    const fixture = await aSource({ 'a.yaml': secret('a') })
    await fixture.write('a.yaml', secret('a').replace('{name: a}', '{name: a, labels: {x: z}}'))
    await eventually(() => {
      expect(find(fixture, 'a').metadata.labels).toEqual({ x: 'z' })
    })
    expect(find(fixture, 'a').metadata.generation).toBe(1)
  })

  it('a file that breaks keeps what it said, with words; others go on', async () => {
    const fixture = await aSource({ 'a.yaml': secret('a') })
    await fixture.write('a.yaml', 'kind: [')
    await eventually(() => {
      expect(fixture.source.current().notes).toHaveLength(1)
    })
    const [note] = fixture.source.current().notes
    expect(note).toMatchObject({
      severity: 'error',
      origin: { file: join(fixture.root, 'a.yaml') },
    })
    expect(note?.message).toContain('its last good content is kept')
    await fixture.write('b.yaml', secret('b'))
    await eventually(() => {
      expect(names(fixture)).toEqual(['a', 'b'])
    })
    expect(fixture.source.current().holdDeletes).toBeUndefined()
    await fixture.write('a.yaml', secret('a', 'mended'))
    await eventually(() => {
      expect(fixture.source.current().notes).toEqual([])
    })
  })

  it('a file that never could be read holds every delete', async () => {
    const fixture = await aSource({ 'a.yaml': 'kind: [' })
    expect(fixture.source.current().holdDeletes).toContain('a.yaml')
    expect(await fixture.source.confirm()).toBe(false)
    await rm(join(fixture.root, 'a.yaml'))
    await eventually(() => {
      expect(fixture.source.current().holdDeletes).toBeUndefined()
    })
    expect(await fixture.source.confirm()).toBe(true)
  })

  it('an object that breaks keeps what it said; the others of its file go on', async () => {
    const fixture = await aSource({ 'a.yaml': `${secret('a', 'old')}---\n${secret('b')}` })
    await fixture.write(
      'a.yaml',
      `${secret('a', 'new')}---\n${secret('b').replace('{name: b}', '')}`,
    )
    await eventually(() => {
      expect(fixture.source.current().notes).toHaveLength(1)
    })
    expect(fixture.source.current().notes[0]).toMatchObject({
      severity: 'error',
      message: '/metadata/name is missing; its last good content is kept until it is fixed',
      origin: { file: join(fixture.root, 'a.yaml'), line: 8 },
    })
    expect(names(fixture)).toEqual(['a', 'b'])
    expect(find(fixture, 'a')).toMatchObject({
      data: { key: Buffer.from('new').toString('base64') },
    })
    expect(fixture.source.current().holdDeletes).toBeUndefined()
    // It has moved: what the broken file said of it before does not stand in the way.
    await fixture.write('b.yaml', secret('b', 'moved'))
    await eventually(() => {
      expect(find(fixture, 'b')).toMatchObject({
        data: { key: Buffer.from('moved').toString('base64') },
      })
    })
    expect(fixture.source.current().notes).toHaveLength(1)
  })

  it('while an object is broken, what its file loses is kept, then it goes', async () => {
    const clock = createManualClock()
    const fixture = await aSource(
      { 'a.yaml': `${secret('a')}---\n${secret('b')}---\n${secret('c')}` },
      { now: () => clock.now(), debounceMs: 60_000 },
    )
    const readAt = async (text: string, ms: number): Promise<readonly string[]> => {
      await fixture.write('a.yaml', text)
      await fixture.source.confirm()
      clock.advance(ms)
      await fixture.source.confirm()
      return names(fixture)
    }
    expect(await readAt(`${secret('a')}---\n- broken\n`, 300)).toEqual(['a', 'b', 'c'])
    expect(await readAt('kind: [', 300)).toEqual(['a', 'b', 'c'])
    expect(await readAt(`${secret('a')}---\n${secret('b')}`, 300)).toEqual(['a', 'b'])
  })

  it('of a file that never could be read whole, the rest serves, and every delete is held', async () => {
    const fixture = await aSource({ 'a.yaml': `${secret('a')}---\n- broken\n` })
    expect(names(fixture)).toEqual(['a'])
    expect(fixture.source.current().holdDeletes).toContain('some of ')
    await fixture.write('a.yaml', secret('a'))
    await eventually(() => {
      expect(fixture.source.current().holdDeletes).toBeUndefined()
    })
  })

  it('a resource that stands in two files: the first has it', async () => {
    const fixture = await aSource({
      'a.yaml': secret('x', 'first'),
      'b.yaml': secret('x', 'second'),
    })
    expect(fixture.source.current().notes[0]?.message).toContain('a.yaml:1 already')
    await rm(join(fixture.root, 'a.yaml'))
    await eventually(() => {
      expect(find(fixture, 'x')).toMatchObject({
        data: { key: Buffer.from('second').toString('base64') },
      })
    })
  })

  it('what goes is gone after a moment; what only moves never is', async () => {
    const clock = createManualClock()
    const fixture = await aSource(
      { 'a.yaml': secret('a'), 'b.yaml': secret('b') },
      { now: () => clock.now() },
    )
    const before = find(fixture, 'a')
    await rm(join(fixture.root, 'a.yaml'))
    await fixture.source.confirm()
    clock.advance(299)
    await fixture.write('moved.yaml', secret('a'))
    await eventually(() => {
      expect(find(fixture, 'a').origin?.file).toContain('moved.yaml')
    })
    expect(fixture.seen.every((each) => each.includes('a'))).toBe(true)
    expect(find(fixture, 'a').metadata.createdAt).toBe(before.metadata.createdAt)
    await rm(join(fixture.root, 'b.yaml'))
    await fixture.source.confirm()
    clock.advance(299)
    await fixture.source.confirm()
    expect(names(fixture)).toEqual(['a', 'b'])
    clock.advance(1)
    await eventually(() => {
      expect(names(fixture)).toEqual(['a'])
    })
  })

  it('what has moved unseen is looked for before it goes', async () => {
    const clock = createManualClock()
    const fixture = await aSource(
      { 'a.yaml': secret('a'), 'b.yaml': secret('b') },
      // A watch that says nothing.
      { now: () => clock.now(), debounceMs: 60_000 },
    )
    await rm(join(fixture.root, 'a.yaml'))
    await fixture.source.confirm()
    await fixture.write('moved.yaml', secret('a'))
    clock.advance(300)
    await eventually(() => {
      expect(fixture.changes()).toBe(2)
    })
    expect(names(fixture)).toEqual(['a', 'b'])
    expect(find(fixture, 'a').origin?.file).toContain('moved.yaml')
  })

  it('a file that is read while it is written, and then broken, keeps what it said', async () => {
    const clock = createManualClock()
    const fixture = await aSource(
      { 'a.yaml': `${secret('a', 'old')}---\n${secret('b')}` },
      { now: () => clock.now(), debounceMs: 60_000 },
    )
    await fixture.write('a.yaml', secret('a', 'new'))
    await fixture.source.confirm()
    await fixture.write('a.yaml', 'kind: [')
    await fixture.source.confirm()
    clock.advance(300)
    await fixture.source.confirm()
    expect(names(fixture)).toEqual(['a', 'b'])
    expect(find(fixture, 'a')).toMatchObject({
      data: { key: Buffer.from('new').toString('base64') },
    })
    await fixture.write('a.yaml', secret('a', 'new'))
    await fixture.source.confirm()
    clock.advance(300)
    await fixture.source.confirm()
    await fixture.write('a.yaml', 'kind: [')
    await fixture.source.confirm()
    expect(names(fixture)).toEqual(['a'])
  })

  it('the directory goes: all stays, deletes are held; it comes back', async () => {
    const fixture = await aSource({ 'a.yaml': secret('a') })
    await rm(fixture.root, { recursive: true })
    await eventually(() => {
      expect(fixture.source.current().holdDeletes).toContain('until it is back')
    })
    expect(names(fixture)).toEqual(['a'])
    expect(await fixture.source.confirm()).toBe(false)
    await mkdir(fixture.root)
    await fixture.write('b.yaml', secret('b'))
    await eventually(() => {
      expect(names(fixture)).toEqual(['b'])
      expect(fixture.source.current().holdDeletes).toBeUndefined()
    })
  })

  it('a mounted ConfigMap that is swapped', async () => {
    const fixture = await aSource()
    const { root } = fixture
    const put = async (version: string, value: string): Promise<void> => {
      await mkdir(join(root, `..${version}`))
      await writeFile(join(root, `..${version}`, 'a.yaml'), secret('a', value))
      await symlink(`..${version}`, join(root, '..next'))
      await rename(join(root, '..next'), join(root, '..data'))
    }
    await put('v1', 'one')
    await symlink('..data/a.yaml', join(root, 'a.yaml'))
    await eventually(() => {
      expect(names(fixture)).toEqual(['a'])
    })
    await put('v2', 'two')
    await rm(join(root, '..v1'), { recursive: true })
    await eventually(() => {
      expect(find(fixture, 'a')).toMatchObject({
        data: { key: Buffer.from('two').toString('base64') },
      })
    })
    expect(names(fixture)).toEqual(['a'])
  })

  it('leftovers of editors and what is no manifest change nothing', async () => {
    const fixture = await aSource({ 'a.yaml': secret('a') })
    const before = fixture.changes()
    for (const name of ['.a.yaml.swp', 'a.yaml~', '4913', 'notes.txt'])
      await fixture.write(name, 'kind: [')
    // Seen after them, or with them.
    await fixture.write('b.yaml', secret('b'))
    await eventually(() => {
      expect(names(fixture)).toEqual(['a', 'b'])
    })
    expect(fixture.changes()).toBe(before + 1)
    expect(fixture.source.current().notes).toEqual([])
  })

  it('an age that the file gives is honoured', async () => {
    const text = secret('a').replace(
      '{name: a}',
      '{name: a, creationTimestamp: "2020-01-01T00:00:00Z"}',
    )
    const fixture = await aSource({ 'a.yaml': text })
    expect(find(fixture, 'a').metadata.createdAt).toBe(Date.parse('2020-01-01T00:00:00Z'))
  })

  it('too much: nothing new is read, nothing is deleted', async () => {
    const fixture = await aSource({ 'a.yaml': secret('a') })
    const large = join(fixture.root, '..', 'large')
    await writeFile(large, '#'.repeat(22 * 1024 * 1024))
    for (const name of ['b', 'c', 'd']) await link(large, join(fixture.root, `${name}.yaml`))
    await eventually(
      () => {
        expect(fixture.source.current().holdDeletes).toContain('64 MiB')
      },
      { withinMs: 20_000 },
    )
    expect(names(fixture)).toEqual(['a'])
  })

  it('an unreadable file is a note', async () => {
    const fixture = await aSource({ 'a.yaml': secret('a') })
    await symlink('a.yaml/nowhere', join(fixture.root, 'odd.yaml'))
    await fixture.write('b.yaml', secret('b'))
    await eventually(() => {
      expect(names(fixture)).toEqual(['a', 'b'])
    })
  })
})
