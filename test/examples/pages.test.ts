// Checks the pages of the documentation: every link leads somewhere, every page can be reached from the index, and the
// first document of README.md is good.

import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { compile } from '../../language/compile.ts'
import { readManifest } from '../../operator/manifests/read-manifest.ts'
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
