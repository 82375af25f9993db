// The tables of reasons in the guides have every reason that a log can have, and no other.

import { describe, expect, it } from '@jest/globals'
import { FAILURE_SENTENCES } from '../../dataplane/http/failure-report.ts'
import { DISCOVERY_REMEDIES } from '../../dataplane/oidc/provider/discover-provider.ts'
import { textOf } from '../support/pages.ts'

/** The words in the first column of the first table below a heading. */
const firstColumn = (page: string, heading: string): readonly string[] => {
  const text = textOf(page)
  const below = text.slice(`\n${text}`.indexOf(`\n${heading}\n`))
  const table = below.slice(below.indexOf('\n| `reason` |'))
  const rows = table.slice(1, table.indexOf('\n\n')).split('\n').slice(2)
  return rows.flatMap((row) =>
    [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, word = '']) => word),
  )
}

describe('the reasons', () => {
  it.each([
    [
      'docs/operations/failed-requests.md',
      '# A request failed: how to find out why',
      Object.keys(FAILURE_SENTENCES),
    ],
    ['docs/security/login.md', '## When discovery fails', Object.keys(DISCOVERY_REMEDIES)],
  ])('of %s, %s, are those of the log', (page, heading, reasons) => {
    expect(firstColumn(page, heading).toSorted()).toEqual(reasons.toSorted())
  })
})
