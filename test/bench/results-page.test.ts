import { describe, expect, it } from '@jest/globals'
import { renderReport, replaceResults, type Report } from './results-page.ts'
import { atLeast, atMost } from './section.ts'

const REPORT: Report = {
  title: 'Operator',
  facts: ['2026-11-28', 'One machine'],
  sections: [
    {
      title: 'Edits',
      method: 'How.',
      tables: [{ head: ['a'], rows: [['b']] }],
      targets: [
        atMost('time', { bound: 1, measured: 2, unit: ' s' }),
        atLeast('share', { bound: 1, measured: 1, unit: ' ×' }),
      ],
      remarks: [],
    },
    { title: 'No target', method: 'How.', tables: [], targets: [], remarks: [] },
  ],
  missing: ['The table was left out.'],
}

const NEW_SECTION = `## Operator

2026-11-28. One machine.

- **Edits**: time **2.00 s** (≤1 s); share 1.00× (≥1×)`

describe('the section of a benchmark', () => {
  it.each([
    ['in the middle', '# Page\n\nText.\n\n## Operator\n\nold\n\n## Routes\n\nkept\n'],
    [
      'at the end',
      '# Page\n\nText.\n\n## Routes\n\nkept\n\n## Operator\n\nold $& ## not a heading\n',
    ],
  ])('is replaced %s, and nothing else', (_where, page) => {
    const replaced = replaceResults(page, REPORT)
    expect(replaced).toContain(`\n\n${NEW_SECTION}\n`)
    expect(replaced.replace(NEW_SECTION, '…')).toBe(
      page.replace(/## Operator\n\nold[^\n]*/, () => '…'),
    )
    expect(replaceResults(replaced, REPORT)).toBe(replaced)
  })

  it('must be there', () => {
    expect(() => replaceResults('# Page\n\n## Operators\n', REPORT)).toThrow(
      "has no section 'Operator'",
    )
  })
})

describe('the whole report', () => {
  it('has every table, and what is missing', () => {
    const text = renderReport(REPORT)
    for (const part of ['# Operator', '- One machine', '## No target', '| b   |', 'left out.'])
      expect(text).toContain(part)
  })
})
