// The pages a reader starts from: every link leads somewhere, and the first document of README.md is good.

import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { compile } from '../../language/compile.ts'
import { readManifest } from '../../operator/manifests/read-manifest.ts'
import { PAGES, textOf } from '../support/pages.ts'

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

describe('the first document of README.md', () => {
  it('is a manifest whose document compiles', () => {
    const yaml = /```yaml\n(.*?)```/s.exec(textOf('README.md'))?.[1] ?? ''
    const read = readManifest(yaml, 'README.md')
    expect(read).toMatchObject({ notes: [], foreign: [], entries: [{ position: { line: 1 } }] })
    const resource = 'entries' in read ? read.entries[0]?.resource : undefined
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
