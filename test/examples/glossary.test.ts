// Checks docs/glossary.md: its terms are sorted, and none of them is a name that it retires.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'

const GLOSSARY = readFileSync(join(import.meta.dirname, '../../docs/glossary.md'), 'utf8')

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
})
