// Tests how lists are searched and cut into pages, and how lists of what has ended are merged.

import { describe, expect, it } from '@jest/globals'
import { mergeNewest } from '../../web/merge-newest.ts'
import { cutText, rankedKey, reasonsOf } from '../../web/overview-rows.ts'
import { cutPage, readPageQuery } from '../../web/rows-page.ts'

const ROWS = ['delta', 'alpha', 'Charlie', 'bravo'].map((name) => ({ name }))
const OF = {
  keyOf: ({ name }: { readonly name: string }) => name.toLowerCase(),
  textsOf: ({ name }: { readonly name: string }) => [name, null, undefined],
}

describe('cutPage', () => {
  it.each([
    ['all of them, in order', {}, 'alpha bravo Charlie delta', 4, null],
    ['the first ones', { limit: 2 }, 'alpha bravo', 4, 'bravo'],
    ['those behind the page before', { after: 'bravo', limit: 2 }, 'Charlie delta', 4, null],
    ['those behind a row that has gone', { after: 'b', limit: 1 }, 'bravo', 4, 'bravo'],
    ['none behind the last', { after: 'delta' }, '', 4, null],
    ['those with a text in any case', { match: 'CHAR' }, 'Charlie', 1, null],
    ['none with a text that none has', { match: '.*' }, '', 0, null],
  ])('gives %s', (_title, query, ...expected) => {
    const page = cutPage(ROWS, { match: '', after: undefined, limit: 100, ...query }, OF)
    const names = page.rows.map(({ name }) => name).join(' ')
    expect([names, page.total, page.next]).toEqual(expected)
  })
})

describe('readPageQuery', () => {
  it.each([
    ['', { match: '', after: undefined, limit: 100 }],
    ['match=a+b&after=x&limit=200', { match: 'a b', after: 'x', limit: 200 }],
    ['limit=201', expect.stringContaining('limit')],
    ['limit=0', expect.stringContaining('limit')],
    ['limit=1.5', expect.stringContaining('limit')],
    [`match=${'x'.repeat(257)}`, expect.stringContaining('match')],
    [`after=${'x'.repeat(1025)}`, expect.stringContaining('after')],
  ])('reads %j', (query, expected) => {
    expect(readPageQuery(new URLSearchParams(query))).toEqual(expected)
  })
})

describe('mergeNewest', () => {
  const times = (...all: readonly number[]) => all.map((endedMs) => ({ endedMs }))
  it.each([
    ['nothing', [], 2, [], null],
    ['less than a page', [times(3), times(5)], 3, [5, 3], null],
    ['a page of several lists', [times(9, 4), times(7, 5)], 2, [9, 7], 7],
    ['what has ended at once as a whole', [times(9, 7), times(7, 7)], 2, [9, 7, 7, 7], 7],
    [
      'what has ended at once, a hundred more than asked for',
      [times(...Array<number>(500).fill(7))],
      2,
      Array(102).fill(7),
      7,
    ],
    ['a full list, of which there may be more', [times(9, 8)], 2, [9, 8], 8],
  ])('merges %s', (_title, lists, limit, ...expected) => {
    const page = mergeNewest(lists, limit)
    expect([page.rows.map(({ endedMs }) => endedMs), page.next]).toEqual(expected)
  })
})

describe('rows of an overview', () => {
  it('are ordered by how bad they are, then by name', () => {
    const keys = [rankedKey('ready', 'a'), rankedKey('failed', 'z'), rankedKey('pending', 'b')]
    expect(keys.sort().map((key) => key.slice(2))).toEqual(['z', 'b', 'a'])
  })

  it('name sessions that are not open, eight at most', () => {
    const waiting = { url: 'ws://r', state: 'waiting', reason: 'refused' } as const
    const all = [
      { url: 'ws://r', state: 'open' } as const,
      ...Array<typeof waiting>(9).fill(waiting),
    ]
    const told = reasonsOf(all.map((session) => ({ ...session, gateway: 'gw' })))
    expect([told.length, told[0]]).toEqual([8, 'gw ws://r waiting: refused'])
  })

  it('have no text that is longer than a thousand characters, nor half a character', () => {
    expect(cutText('x'.repeat(2000))).toHaveLength(1025)
    expect(cutText(`${'x'.repeat(1023)}😀`)).toBe(`${'x'.repeat(1023)}\ufffd…`)
  })
})
