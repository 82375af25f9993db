// Checks that what code, tests and pages cite exists: every "behaviour §4" and "specification §2.5" names a numbered
// heading of that page or of one in its folder, and what a conformance case quotes beside it stands in that section.

import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { readCaseFiles } from '../conformance/runner/case-file.ts'
import { guideOf } from '../support/pages.ts'

const ROOT = join(import.meta.dirname, '../..')
const NOT_OURS: ReadonlySet<string> = new Set(['node_modules', 'dist', 'coverage'])

type Page = 'behaviour' | 'specification'

/** Text without the marks of Markdown, so that a quotation may leave them out. */
const plainOf = (text: string): string =>
  text.toLowerCase().replaceAll(/[`*]/g, '').replaceAll(/\s+/g, ' ')

/** Number of each numbered heading → plain text of its section, that of the sections within it included. */
const sectionsOf = (page: Page): ReadonlyMap<string, string> => {
  const parts = guideOf(page)
    .split(/^(?=#+ \d)/m)
    .flatMap((part) => {
      const number = /^#+ (\d+(?:\.\d+)*)/.exec(part)?.[1]
      return number === undefined ? [] : [{ number, part }]
    })
  return new Map(
    parts.map(({ number }) => {
      const within = parts.filter((other) => `${other.number}.`.startsWith(`${number}.`))
      return [number, plainOf(within.map(({ part }) => part).join('\n'))]
    }),
  )
}

const sections: Readonly<Record<Page, ReadonlyMap<string, string>>> = {
  behaviour: sectionsOf('behaviour'),
  specification: sectionsOf('specification'),
}

/** Of no section of either page. */
const MISSING = '99'
const NUMBER = String.raw`\d+(?:\.\d+)*`
const CITATION = new RegExp(
  String.raw`\b(behaviour|specification)((?:(?:,| and)? §${NUMBER}(?:–${NUMBER})?)+)`,
  'gi',
)

/** Citations in `text` whose section does not exist. */
const brokenIn = (text: string): readonly string[] =>
  [...text.matchAll(CITATION)].flatMap(([citation, page = '', numbers = '']) =>
    [...numbers.matchAll(new RegExp(NUMBER, 'g'))]
      .filter(([number]) => !sections[page.toLowerCase() as Page].has(number))
      .map(() => citation),
  )

const filesBelow = (folder: string): readonly string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name.startsWith('.') || NOT_OURS.has(entry.name)) return []
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return filesBelow(path)
    return entry.isFile() && /\.(ts|js|md|ya?ml|json|sh)$/.test(entry.name) ? [path] : []
  })

/** `behaviour §3 (answered in order), §5`: a page or an RFC, sections of it, words that stand there. */
const REASON = new RegExp(
  String.raw`(?:(behaviour|specification|RFC \d+) )?§(${NUMBER})(?: \(((?:[^()]|\([^()]*\))*)\))?`,
  'g',
)

/** What is wrong with the citations of a conformance case. */
const faultsOf = (why: string): readonly string[] => {
  let cited = ''
  return [...why.matchAll(REASON)].flatMap(([citation, source = cited, number = '', quoted]) => {
    cited = source
    if (source === '') return [`${citation}: of which page?`]
    if (source !== 'behaviour' && source !== 'specification') return []
    const section = sections[source].get(number)
    if (section === undefined) return [`${citation}: there is no such section`]
    const quotations = quoted?.split(/[;:] /) ?? []
    return quotations
      .filter((words) => !section.includes(plainOf(words)))
      .map((words) => `${source} §${number} does not say: ${words}`)
  })
}

describe('citations', () => {
  it('name sections that exist, in code, tests and pages', () => {
    const broken = filesBelow(ROOT).flatMap((file) =>
      brokenIn(readFileSync(file, 'utf8')).map((each) => `${relative(ROOT, file)}: ${each}`),
    )
    expect(broken).toEqual([])
  })

  it('of a section that does not exist are found', () => {
    const cited = ['behaviour', 'specification'].map((page) => `${page} §2, §${MISSING}`)
    expect(cited.flatMap(brokenIn)).toEqual(cited)
  })
})

const files = await readCaseFiles(join(ROOT, 'test/conformance/cases'))

describe('the conformance cases', () => {
  it.each(files)('of $stem cite sections that exist, and quote what stands there', ({ steps }) => {
    const faults = steps.flatMap(({ name = '', why = '' }) =>
      faultsOf(why).map((fault) => `${name}: ${fault}`),
    )
    expect(faults).toEqual([])
  })

  it.each([
    ['§2', '§2: of which page?'],
    [`RFC 9112 §9.3; behaviour §${MISSING}`, `behaviour §${MISSING}: there is no such section`],
    [`behaviour §1, §${MISSING}`, `§${MISSING}: there is no such section`],
    ['behaviour §1 (at load; by the moon)', 'behaviour §1 does not say: by the moon'],
  ])('would not pass with %s', (why, fault) => {
    expect(faultsOf(why)).toEqual([fault])
  })
})
