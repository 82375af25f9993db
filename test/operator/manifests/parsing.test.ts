import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { parseYaml } from '../../../operator/manifests/parse-yaml.ts'
import { readManifest } from '../../../operator/manifests/read-manifest.ts'
import { isManifestName, scanDirectory, scanFile } from '../../../operator/manifests/scan.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

const valueOf = (text: string): unknown => {
  const parsed = parseYaml(text)
  return 'error' in parsed ? parsed : parsed.documents.map(({ value }) => value)
}

describe('YAML as kubectl reads it', () => {
  it.each([
    ['a: on', { a: true }],
    ['a: n', { a: false }],
    ['a: Yes', { a: true }],
    ['a: 010', { a: 8 }],
    ['a: 0o10', { a: 8 }],
    ['a: -0o10', { a: -8 }],
    ['a: 0x1F', { a: 31 }],
    ['a: 0b11', { a: 3 }],
    ['a: 1_000', { a: 1000 }],
    ['a: 1:30', { a: '1:30' }],
    ['a: 1:30.5', { a: '1:30.5' }],
    ['a: 2026-01-31', { a: '2026-01-31' }],
    ['a: 1e3', { a: 1000 }],
    ['a: ~', { a: null }],
    ['a: "on"', { a: 'on' }],
    ['on: 1', { true: 1 }],
    ['a: &x {b: 1}\nc: {<<: *x, d: 2}', { a: { b: 1 }, c: { b: 1, d: 2 } }],
    ['{"a": [1, "b", null]}', { a: [1, 'b', null] }],
  ])('%s', (text, expected) => {
    expect(valueOf(text)).toEqual([expected])
  })

  it('several documents, empty ones left out', () => {
    expect(valueOf('---\na: 1\n---\n# nothing\n---\nb: 2\n')).toEqual([{ a: 1 }, { b: 2 }])
    expect(valueOf('')).toEqual([])
  })

  it('keys such as __proto__ are own keys', () => {
    const [value] = valueOf('__proto__: {a: 1}') as readonly object[]
    expect(Object.hasOwn(value ?? {}, '__proto__')).toBe(true)
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  })

  it.each<[string, string, string]>([
    ['a: [1', '1:6', 'Flow sequence in block collection must be'],
    ['---\na: 1\n---\n- 1\n b: 2', '4:3', "a colon is missing in '1'"],
    ['path: {{variables.x}}/a # so\nb: 1', '1:7', "write '{{variables.x}}/a', in quotes"],
    ['- {{variables.x}}/a', '1:3', "write '{{variables.x}}/a', in quotes"],
    ['ok: 1\na: b: c # so', '2:4', 'Nested mappings are not allowed in compact mappings'],
    ['a:\n  b: 1\n    c: 2', '2:6', 'Nested mappings are not allowed in compact mappings'],
    ['a:\n   b: 1\n  c: 2', '3:1', 'All mapping items must start at the same column'],
    ['a:\n\tb: 1', '2:1', 'a tab indents this line: write spaces'],
    ['a: 1\na: 2', '2:1', "the key 'a' is there twice, first in line 1: each"],
    ['- x: 1\n  "y z": 2\n  "y z": 3', '3:3', 'twice, first in line 2'],
    ['{a: 1, a: 2}', '1:8', "the key 'a' is there twice, first in line 1"],
    ['a: 1\nhost\nb: 2', '2:1', "a colon is missing in 'host'"],
    ["a: 1\nb: 'x\nc: 2\nd: 3", '4:5', "Missing closing 'quote"],
    ['{"a": 1 "b": 2}', '1:7', 'Block collections are not allowed within flow'],
    ['a: @x', '1:4', 'cannot start with reserved character @'],
    ['a: 1\nb: *x', '2:4', 'Unresolved alias (the anchor must be set before the alias): x'],
    ['origins: *', '1:10', 'Alias cannot be an empty string'],
    ['a: {<<: 5}', '1:1', 'Merge sources must be maps'],
  ])('%j is no YAML, at %s', (text, place, words) => {
    const parsed = parseYaml(text)
    if (!('error' in parsed)) throw new Error('it was read')
    const { line, column, message } = parsed.error
    expect([`${line}:${column}`, message]).toEqual([place, expect.stringContaining(words)])
  })

  it('aliases that multiply without end are a fault, those of a large document are not', () => {
    const level = (n: number): string =>
      `l${n}: &l${n} [${Array.from({ length: 9 }, () => `*l${n - 1}`).join(', ')}]`
    const bomb = ['l0: &l0 [x]', ...Array.from({ length: 9 }, (_, i) => level(i + 1))].join('\n')
    expect(valueOf(bomb)).toMatchObject({
      error: { message: expect.stringContaining('alias') as unknown },
    })
    const many = ['shared: &s {a: 1}', ...Array.from({ length: 3000 }, (_, i) => `k${i}: *s`)].join(
      '\n',
    )
    expect(valueOf(many)).toHaveLength(1)
  })

  it.each([
    ['a: on', ['/a']],
    ['a:\n  - {b: 010}', ['/a/0/b']],
    ['no: 1', ['/false']],
    ['a: 1:30', ['/a']],
    ['a: y', ['/a']],
    ['a: [0b1, 1_0]', ['/a/0', '/a/1']],
    ['a/b: off', ['/a~1b']],
    ['a: "on"', []],
    ['a: true', []],
    ['a: [1, 1.5, -2e3, 0x1F, 0o7, ~, null, .inf, -.inf, FALSE]', []],
    ['a: 2026-01-31', []],
    ['a: text', []],
  ])('%j: warnings at %j', (text, paths) => {
    const parsed = parseYaml(text)
    const warnings = 'error' in parsed ? [] : (parsed.documents[0]?.warnings ?? [])
    expect(warnings.map(({ path }) => path)).toEqual(paths)
  })

  it('warns at most a hundred times', () => {
    const parsed = parseYaml(Array.from({ length: 300 }, (_, i) => `k${i}: on`).join('\n'))
    expect('error' in parsed ? 0 : parsed.documents[0]?.warnings.length).toBe(100)
  })

  it('knows the place of a pointer, or of its nearest parent', () => {
    const parsed = parseYaml('a:\n  b:\n    - 1\n    - c: 2\n')
    const document = 'error' in parsed ? undefined : parsed.documents[0]
    expect(
      ['', '/a', '/a/b/1', '/a/b/1/c', '/a/b/9/x', '/nope'].map((pointer) => {
        const { line, column } = document?.positionOf(pointer) ?? { line: 0, column: 0 }
        return [line, column]
      }),
    ).toEqual([
      [1, 1],
      [1, 1],
      [4, 7],
      [4, 10],
      [2, 3],
      [1, 1],
    ])
  })
})

describe('a manifest file', () => {
  const HEAD = 'apiVersion: gateway.svc.dev/v1alpha1\n'
  it('notes a kind of our group that there is not, and reads the rest of the file', () => {
    const read = readManifest(
      `${HEAD}kind: Raelm\n---\n${HEAD}kind: Realm\nmetadata: {name: a}\nspec: {uri: a}\n`,
      'f.yaml',
    )
    expect(read.problems).toEqual([])
    expect(read.entries.map(({ resource }) => resource.kind)).toEqual(['Realm'])
    expect(read.notes).toMatchObject([
      {
        severity: 'error',
        path: '/kind',
        message: expect.stringContaining("did you mean 'Realm'?") as unknown,
        origin: { file: 'f.yaml', line: 2 },
      },
    ])
  })

  it('lists are flattened, foreign kinds left to others', () => {
    const read = readManifest(
      [
        'apiVersion: v1\nkind: List\nitems:',
        '  - {apiVersion: v1, kind: Secret, metadata: {name: a}}',
        '  - {apiVersion: apps/v1, kind: Deployment, metadata: {name: b}}',
        '---',
        `${HEAD}kind: RealmList`,
        'items:',
        '  - {apiVersion: gateway.svc.dev/v1alpha1, kind: Realm, metadata: {name: c}, spec: {uri: on}}',
      ].join('\n'),
      'x.yaml',
    )
    expect(read.problems).toEqual([])
    expect(
      read.entries.map(({ resource, position }) => [
        resource.kind,
        resource.metadata.name,
        position.line,
      ]),
    ).toEqual([
      ['Secret', 'a', 4],
      ['Realm', 'c', 10],
    ])
    expect(read.notes).toEqual([
      {
        severity: 'warning',
        message: expect.stringContaining("write 'on'") as unknown,
        origin: { file: 'x.yaml', line: 10, column: 90 },
        path: '/spec/uri',
        resource: 'Realm default/c',
      },
    ])
  })

  it.each([
    ['a: [', /not YAML/, 1],
    [`${HEAD}kind: Realm\nmetadata: {}`, /name is missing/, 3],
    ['id: a\nhost: b\nversions: {}', /bare API Specification/, 1],
    ['- 1', /not a Kubernetes resource/, 1],
  ])('%j: nothing of the file is readable', (text, words, line) => {
    const read = readManifest(text, 'x.yaml')
    expect(read.entries).toEqual([])
    expect(read.problems).toHaveLength(1)
    expect(read.problems[0]).toMatchObject({
      severity: 'error',
      message: expect.stringMatching(words) as unknown,
      origin: { file: 'x.yaml', line },
    })
  })

  it('an object that is unreadable hurts neither the others of its file nor their places', () => {
    const read = readManifest(
      `${HEAD}kind: Realm\nmetadata: {name: a}\nspec: {uri: a}\n---\n- 1\n---\n${HEAD}kind: Realm\n` +
        `metadata: null\n---\n${HEAD}kind: Realm\nmetadata: {name: b}\nspec: {uri: b}\n`,
      'f.yaml',
    )
    expect(
      read.entries.map(({ resource, position }) => [resource.metadata.name, position.line]),
    ).toEqual([
      ['a', 1],
      ['b', 12],
    ])
    expect(read.problems.map(({ message, origin }) => [message, origin?.line])).toEqual([
      ['this is not a Kubernetes resource: it is not a map', 6],
      ['/metadata/name is missing', 10],
    ])
  })

  it('of many unreadable objects the first hundred are reported', () => {
    expect(readManifest('--- 1\n'.repeat(101), 'f.yaml').problems).toHaveLength(100)
  })
})

describe('scanning a directory', () => {
  it.each([
    ['a.yaml', true],
    ['a.YML', true],
    ['a.json', true],
    ['.a.yaml', false],
    ['#a.yaml', false],
    ['a.yaml~', false],
    ['a.yaml.swp', false],
    ['4913', false],
    ['README.md', false],
  ])('%s: %s', (name, expected) => {
    expect(isManifestName(name)).toBe(expected)
  })

  it('finds manifests below, through links, once', async () => {
    await using dir = await makeTempDir()
    const root = join(dir.path, 'root')
    await mkdir(join(root, 'sub/.git'), { recursive: true })
    await mkdir(join(root, '..v1'))
    await writeFile(join(root, '..v1/mounted.yaml'), '')
    await symlink('..v1', join(root, '..data'))
    await symlink('..data/mounted.yaml', join(root, 'mounted.yaml'))
    await symlink('..', join(root, 'sub/loop'))
    await symlink('nowhere', join(root, 'broken.yaml'))
    for (const name of ['b.yaml', 'a.txt', 'sub/c.json', 'sub/.git/d.yaml', 'b.yaml~']) {
      await writeFile(join(root, name), 'x')
    }
    const scan = await scanDirectory(root)
    expect('files' in scan ? scan.files.map(({ path }) => path) : scan).toEqual([
      'b.yaml',
      'mounted.yaml',
      'sub/c.json',
    ])
    expect(await scanFile(root, 'sub')).toBeUndefined()
    expect((await scanFile(root, 'b.yaml'))?.bytes).toBe(1)
  })

  it('a directory that is gone is said to be gone', async () => {
    expect(await scanDirectory('/nowhere/at/all')).toMatchObject({
      gone: expect.stringContaining('/nowhere') as unknown,
    })
  })

  it('stops at 64 MiB', async () => {
    await using dir = await makeTempDir()
    for (const name of ['a', 'b', 'c']) {
      await writeFile(join(dir.path, `${name}.yaml`), Buffer.alloc(33 * 1024 * 1024))
    }
    const scan = await scanDirectory(dir.path)
    expect('files' in scan ? scan.tooMuch : '').toContain('64 MiB')
  })
})
