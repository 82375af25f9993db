// The tables of reasons in the guides have every reason that a log can have, and no other.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { FAILURE_SENTENCES } from '../../dataplane/http/failure-report.ts'
import { DISCOVERY_REMEDIES } from '../../dataplane/oidc/provider/discover-provider.ts'

const DOCS = join(import.meta.dirname, '../../docs')

/** The words in the first column of the first table below a heading. */
const firstColumn = (page: string, heading: string): readonly string[] => {
  const text = readFileSync(join(DOCS, page), 'utf8')
  const below = text.slice(text.indexOf(`\n${heading}\n`))
  const table = below.slice(below.indexOf('\n| `reason` |'))
  const rows = table.slice(1, table.indexOf('\n\n')).split('\n').slice(2)
  return rows.flatMap((row) =>
    [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, word = '']) => word),
  )
}

describe('the reasons', () => {
  it.each([
    ['operating.md', '## A request failed: how to find out why', Object.keys(FAILURE_SENTENCES)],
    ['security.md', '### When discovery fails', Object.keys(DISCOVERY_REMEDIES)],
  ])('of %s, %s, are those of the log', (page, heading, reasons) => {
    expect(firstColumn(page, heading).toSorted()).toEqual(reasons.toSorted())
  })
})
