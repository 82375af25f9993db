// Checks the pages of the documentation: every link leads somewhere, every page can be reached from the index, and the
// first document of README.md is good.

import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { parse, parseAllDocuments } from 'yaml'
import { validateFiles } from '../../cli/validate/validate-files.ts'
import { compile } from '../../language/compile.ts'
import { readManifest } from '../../operator/manifests/read-manifest.ts'
import { applyPatch } from '../support/json-patch.ts'
import { drawPicture, PICTURE_PATH } from '../support/picture.ts'
import { PAGES, pagesOf, textOf } from '../support/pages.ts'

const ROOT = join(import.meta.dirname, '../..')

/** As GitHub makes them of headings. */
const anchorsOf = (page: string): readonly string[] =>
  [...textOf(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )

const linksOf = (page: string): readonly (readonly [target: string, anchor: string])[] =>
  [...textOf(page).matchAll(/\]\((?!https?:)([^)#]*)#?([^)]*)\)/g)].map(
    ([, target = '', anchor = '']) => [target === '' ? page : join(dirname(page), target), anchor],
  )

describe('links', () => {
  it.each(PAGES)('of %s lead somewhere', (page) => {
    const broken = linksOf(page).filter(
      ([target, anchor]) =>
        !existsSync(join(ROOT, target)) || (anchor !== '' && !anchorsOf(target).includes(anchor)),
    )
    expect(broken).toEqual([])
  })
})

/** Pages that a reader comes to by links, from one page on. */
const reachedFrom = (start: string): ReadonlySet<string> => {
  const reached = new Set([start])
  for (const page of reached)
    for (const [target] of linksOf(page)) if (PAGES.includes(target)) reached.add(target)
  return reached
}

describe('pages', () => {
  it('can all be reached from the index', () => {
    const reached = reachedFrom('docs/README.md')
    expect(PAGES.filter((page) => page.startsWith('docs/') && !reached.has(page))).toEqual([])
  })

  it.each(['security', 'operations', 'kubernetes', 'wamp', 'behaviour'])(
    'in docs/%s/ are linked from their overview, and link to it first',
    (name) => {
      const [overview = '', ...pages] = pagesOf(name)
      const linked = new Set(linksOf(overview).map(([target]) => target))
      expect(pages.filter((page) => !linked.has(page))).toEqual([])
      expect(pages.filter((page) => linksOf(page)[0]?.[0] !== overview)).toEqual([])
    },
  )
})

describe('the first document of README.md', () => {
  it('is a manifest whose document compiles', () => {
    const yaml = /```yaml\n(.*?)```/s.exec(textOf('README.md'))?.[1] ?? ''
    const read = readManifest(yaml, 'README.md')
    expect(read).toMatchObject({
      notes: [],
      problems: [],
      entries: [{ position: { line: 1 } }],
    })
    const resource = read.entries[0]?.resource
    expect(resource).toMatchObject({ kind: 'ApiSpecification', checked: { spec: {} } })
    const spec =
      resource?.kind === 'ApiSpecification' && 'spec' in resource.checked
        ? resource.checked.spec
        : undefined
    const facts = { authmethods: [], oidcProviders: [] }
    const compilation = compile(spec?.document ?? {}, { realm: () => facts })
    expect(compilation).toMatchObject({ compiled: { id: 'com.example.first' }, warnings: [] })
  })
})

it('the picture of README.md shows what svc prints (node test/support/write-picture.ts)', async () => {
  expect(readFileSync(PICTURE_PATH, 'utf8')).toBe(await drawPicture())
})

describe('docs/environments', () => {
  interface Overlay {
    readonly namespace: string
    readonly patches: readonly {
      readonly patch: string
      readonly target: { readonly kind: string }
    }[]
  }

  interface Replacement {
    readonly op: string
    readonly path: string
    readonly value: string
  }

  it.each(['dev', 'prod'])('gives %s what stands in its patches, and it is valid', (name) => {
    const overlay = parse(textOf(`docs/environments/${name}/kustomization.yaml`)) as Overlay
    const rendered = parseAllDocuments(textOf('docs/environments/base/api.yaml')).map((each) => {
      const object = each.toJS() as { readonly kind: string; readonly metadata: object }
      const metadata = { ...object.metadata, namespace: overlay.namespace }
      const replaced = overlay.patches
        .filter(({ target }) => target.kind === object.kind)
        .flatMap(({ patch }) => parse(patch) as readonly Replacement[])
      expect(replaced.map(({ op }) => op)).toEqual(replaced.map(() => 'replace'))
      // On a member that is there, and that is what a test of the result sees, adding replaces.
      return applyPatch(
        { ...object, metadata },
        replaced.map(({ path, value }) => ({ op: 'add', path, value })),
      )
    })
    const text = rendered.map((each) => JSON.stringify(each)).join('\n---\n')
    expect(validateFiles([{ name: `${name}.yaml`, text }]).diagnostics).toEqual([])
    for (const { patch } of overlay.patches)
      for (const { value } of parse(patch) as readonly Replacement[]) expect(text).toContain(value)
  })
})
