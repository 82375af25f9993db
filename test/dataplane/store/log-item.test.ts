// What the log says of the entries of one call.

import { expect, it } from '@jest/globals'
import { isPlain, logItem, logPlainItems } from '../../../dataplane/store/log-item.ts'
import type { SyncItem } from '../../../language/wire/wire.ts'
import { createLog } from '../../../telemetry/log.ts'

const item = (id: string, more: Partial<SyncItem> = {}): SyncItem => ({
  id,
  kind: 'spec',
  result: 'loaded',
  errors: [],
  warnings: [],
  ...more,
})
const warning = { code: 'ShortTimeout', path: '/a', message: 'm' } as const
const many = Array.from({ length: 1000 }, (_, index) => item(`d${index}`))

const lines = (items: readonly SyncItem[]): readonly unknown[] => {
  const written: string[] = []
  const destination = { write: (line: string) => written.push(line) }
  const log = createLog({ level: 'info', name: 'x', destination })
  logPlainItems(log, items)
  for (const each of items) if (!isPlain(each)) logItem(log, each)
  return written.map((line) => {
    const { level, msg, name, time, ...fields } = JSON.parse(line) as Record<string, unknown>
    expect([name, typeof time]).toEqual(['x', 'string'])
    return [level, msg, fields]
  })
}

it.each<[string, readonly SyncItem[], readonly unknown[]]>([
  ['nothing', [], []],
  ['what stayed as it was', [item('a', { result: 'unchanged' })], []],
  ['one', [item('a')], [['info', 'entry loaded', { id: 'a', kind: 'spec' }]]],
  [
    'a thousand and a realm, as at a start',
    [item('com.a', { kind: 'realm' }), ...many],
    [
      [
        'info',
        'entries loaded',
        {
          documents: 1000,
          realms: 1,
          first: ['com.a', 'd0', 'd1', 'd2', 'd3', 'd4', 'd5', 'd6'],
        },
      ],
    ],
  ],
  [
    'what needs a look beside what does not',
    [
      item('a'),
      item('b', { warnings: [warning] }),
      item('c', { result: 'rejected', errors: [{ ...warning, code: 'invalid_value' }] }),
      item('d', { result: 'deleted' }),
      item('e', { result: 'deleted' }),
    ],
    [
      ['info', 'entry loaded', { id: 'a', kind: 'spec' }],
      ['info', 'entries deleted', { documents: 2, realms: 0, first: ['d', 'e'] }],
      ['warn', 'entry loaded with warnings', { id: 'b', kind: 'spec', warnings: [warning] }],
      [
        'warn',
        'entry rejected',
        { id: 'c', kind: 'spec', errors: [{ ...warning, code: 'invalid_value' }] },
      ],
    ],
  ],
])('%s', (_, items, expected) => {
  expect(lines(items)).toEqual(expected)
})
