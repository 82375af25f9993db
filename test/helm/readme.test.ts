// The chart's README says what values.yaml says, with the head that was written by hand.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { README_PATH, renderReadme, valuesTable } from '../support/chart-readme.ts'

describe("the chart's README", () => {
  it('is what `make golden` writes', () => {
    expect(readFileSync(README_PATH, 'utf8')).toBe(renderReadme())
  })
})

describe('the table of values', () => {
  it('has a row for each described value, whole where the default is a map', () => {
    const text = `# -- The first\nfirst: ''\nmap:\n  # -- A choice: a|b\n  a: 1\n  # -- Two lines,\n  # one text\n  b:\n    c: [d]\n`
    expect(valuesTable(text).split('\n').slice(5, -1)).toEqual([
      '| `first` | `""` | The first |',
      '| `map.a` | `1` | A choice: a\\|b |',
      '| `map.b` | `{"c":["d"]}` | Two lines, one text |',
    ])
  })

  it('is not made where a value has no description', () => {
    expect(() => valuesTable('# -- Here\na: 1\nb:\n  c: 2\n')).toThrow('b.c has no description')
  })
})
