// Checks docs/glossary.md: its terms are sorted, none of them is a name that it retires, and a retired noun that many
// sentences could bring back is in no file.

import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { filesBelow } from '../support/files-below.ts'

const ROOT = join(import.meta.dirname, '../..')
const GLOSSARY = readFileSync(join(ROOT, 'docs/glossary.md'), 'utf8')

const FOLDERS = [
  'base',
  'cli',
  'compiler',
  'dataplane',
  'dev',
  'docs',
  'examples',
  'helm',
  'language',
  'operator',
  'telemetry',
  'web',
] as const
/** Written by a benchmark, or given. */
const NOT_OURS = /^docs\/(?:benchmarks|specification)/

/** The noun by what stands before it: as a verb, "answer" is the right word. */
const ANSWER =
  /\b(?:an|the|its|no|every|late) answers?\b|\bthis answer\b|\b(?:type|interface|class) \w*Answers?\b/i

const rows = [...GLOSSARY.matchAll(/^\| (\*\*.*) \| (.*) \|.*\|(.*)\|$/gm)].map(
  ([, terms = '', meaning = '', retired = '']) => ({
    terms: [...terms.matchAll(/\*\*(.*?)\*\*/g)].map(([, term = '']) => term),
    meaning,
    /** Without what stands in parentheses: those are retired in one sense alone. */
    retired: retired.split(',').map((name) => name.trim()),
  }),
)

describe('the glossary', () => {
  it('has its terms in alphabetical order, each once', () => {
    const terms = rows.map(({ terms: [first = ''] }) => first)
    expect(terms.length).toBeGreaterThan(40)
    expect(terms).toEqual([...new Set(terms)].sort())
  })

  it('retires no name that it uses as a term', () => {
    const terms = new Set(rows.flatMap((row) => row.terms))
    expect(rows.flatMap(({ retired }) => retired).filter((name) => terms.has(name))).toEqual([])
  })

  it('gives each term one sentence', () => {
    expect(rows.filter(({ meaning }) => !/^[A-Z][^.]*(?:`[^`]*`[^.]*)*\.$/.test(meaning))).toEqual(
      [],
    )
  })

  it.each(FOLDERS)('has %s/ call what is returned a response', (folder) => {
    const files = filesBelow(join(ROOT, folder), /\.(?:js|json|md|tpl|ts|yaml)$/).filter(
      (path) => !NOT_OURS.test(relative(ROOT, path)),
    )
    expect(files.length).toBeGreaterThan(0)
    const found = files.flatMap((path) =>
      readFileSync(path, 'utf8')
        .split('\n')
        .flatMap((line, index) =>
          ANSWER.test(line) ? [`${relative(ROOT, path)}:${index + 1} ${line.trim()}`] : [],
        ),
    )
    expect(found).toEqual([])
  })

  it.each([
    ['// Waits for the answer of the router.', true],
    ['an answer', true],
    ['type UpstreamAnswer = string', true],
    ['// The router answers the call.', false],
    ['it does not answer in time', false],
  ])('finds the retired noun in %j: %p', (line, isFound) => {
    expect(ANSWER.test(line)).toBe(isFound)
  })
})
