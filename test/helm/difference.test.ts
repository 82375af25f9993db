// The difference between two renderings says what differs, and with the one of them gives the other.

import { describe, expect, it } from '@jest/globals'
import { parse } from 'yaml'
import type { KubernetesObject } from '../support/helm.ts'
import {
  applyDifference,
  type Difference,
  findDifference,
  objectsByName,
  type Rendering,
  writeDifference,
} from './difference.ts'

const pod = (name: string, spec: object, labels?: Readonly<Record<string, string>>) =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'shop', ...(labels && { labels }) },
    spec,
  }) satisfies KubernetesObject

const role = (labels?: Readonly<Record<string, string>>) =>
  ({
    apiVersion: 'v1',
    kind: 'ClusterRole',
    metadata: { name: 'reader', ...(labels && { labels }) },
  }) satisfies KubernetesObject

const rendering = (
  objects: readonly KubernetesObject[],
  { comments = '# a\n# b', notes = 'One.\nTwo.' }: Partial<Omit<Rendering, 'objects'>> = {},
): Rendering => ({ objects: objectsByName(objects), comments, notes })

const DEFAULTS = rendering([pod('demo', {}), pod('demo-test', { of: 'demo' }, { a: 'b' }), role()])

type Case = readonly [what: string, now: Rendering, difference: Difference]

const CASES: readonly Case[] = [
  [
    'nothing, in another order',
    rendering([role(), pod('demo-test', { of: 'demo' }, { a: 'b' }), pod('demo', {})]),
    {},
  ],
  [
    'objects that come and go',
    rendering([pod('z', {}), pod('demo-test', { of: 'demo' }, { a: 'b' }), pod('a', {})]),
    { removed: ['ClusterRole reader', 'Pod shop/demo'], added: [pod('a', {}), pod('z', {})] },
  ],
  [
    'changes of one object',
    rendering([pod('demo', { of: 1 }), pod('demo-test', { of: 'demo' }, { a: 'b' }), role()]),
    { changed: { 'Pod shop/demo': { '/spec/of': { after: 1 } } } },
  ],
  [
    'a label of all, and what is left of one',
    rendering([
      pod('demo', {}, { c: 'd' }),
      pod('demo-test', { of: 'demo' }, { a: 'x', c: 'd' }),
      role({ c: 'd' }),
    ]),
    {
      everywhere: { '/metadata/labels/c': { after: 'd' } },
      changed: { 'Pod shop/demo-test': { '/metadata/labels/a': { before: 'b', after: 'x' } } },
    },
  ],
  [
    'a label of all but one',
    rendering([
      pod('demo', {}, { c: 'd' }),
      pod('demo-test', { of: 'demo' }, { a: 'b', c: 'd' }),
      role(),
    ]),
    {
      changed: {
        'Pod shop/demo': { '/metadata/labels/c': { after: 'd' } },
        'Pod shop/demo-test': { '/metadata/labels/c': { after: 'd' } },
      },
    },
  ],
  [
    'a label of the only one that stays',
    rendering([pod('demo', {}, { c: 'd' })]),
    {
      removed: ['ClusterRole reader', 'Pod shop/demo-test'],
      changed: { 'Pod shop/demo': { '/metadata/labels/c': { after: 'd' } } },
    },
  ],
  [
    'a change of all that is no label',
    rendering(Object.values(DEFAULTS.objects).map((object) => ({ ...object, apiVersion: 'v2' }))),
    {
      changed: Object.fromEntries(
        ['ClusterRole reader', 'Pod shop/demo', 'Pod shop/demo-test'].map((name) => [
          name,
          { '/apiVersion': { before: 'v1', after: 'v2' } },
        ]),
      ),
    },
  ],
  [
    'comments and notes',
    rendering(Object.values(DEFAULTS.objects), {
      comments: '# a\n# c\n# b',
      notes: 'One.\nThree.',
    }),
    {
      comments: { '/1': { after: '# c' } },
      notes: { '/1': { before: 'Two.', after: 'Three.' } },
    },
  ],
  [
    'another name everywhere, but for one place',
    rendering([pod('shop', {}), pod('shop-test', { of: 'demo' }, { a: 'b' }), role()]),
    {
      renamed: { demo: 'shop' },
      changed: { 'Pod shop/shop-test': { '/spec/of': { before: 'shop', after: 'demo' } } },
    },
  ],
]

describe('the difference from the defaults', () => {
  it.each(CASES)('%s: is found, and applied', (_what, now, difference) => {
    expect(findDifference(DEFAULTS, now, difference.renamed)).toStrictEqual(difference)
    expect(applyDifference(DEFAULTS, difference)).toStrictEqual(now)
  })

  it.each<readonly [string, Difference]>([
    ['an object that goes', { removed: ['Pod shop/other'] }],
    ['an object that changes', { changed: { 'Pod shop/other': {} } }],
    ['a value', { changed: { 'Pod shop/demo': { '/spec/of': { before: 1 } } } }],
  ])('is refused by defaults that lack %s', (_what, difference) => {
    expect(() => applyDifference(DEFAULTS, difference)).toThrow(/^(the defaults have no|there is)/)
  })

  it('is refused where it adds what is there', () => {
    expect(() => applyDifference(DEFAULTS, { added: [role()] })).toThrow('one name')
  })

  it('is written as YAML: a short change on one line, and nothing twice by reference', () => {
    const from = [{ port: 1 }]
    const long = 'x'.repeat(80)
    const difference = {
      removed: ['ClusterRole reader'],
      changed: {
        'Pod shop/demo': {
          '/spec/a': { before: 1, after: 'two' },
          '/spec/b': { after: long },
          '/spec/c': { before: 'a\nb' },
          '/spec/d': { after: from },
          '/spec/e': { after: from },
        },
      },
    }
    const text = writeDifference(difference)
    expect(text.split('\n')).toEqual([
      expect.stringMatching(/^# What differs from the defaults/),
      '',
      'removed:',
      '  - ClusterRole reader',
      'changed:',
      '  Pod shop/demo:',
      '    /spec/a: { before: 1, after: two }',
      '    /spec/b:',
      `      after: ${long}`,
      '    /spec/c:',
      '      before: |-',
      '        a',
      '        b',
      ...['d', 'e'].flatMap((key) => [`    /spec/${key}:`, '      after:', '        - port: 1']),
      '',
    ])
    expect(parse(text)).toStrictEqual(difference)
  })
})
