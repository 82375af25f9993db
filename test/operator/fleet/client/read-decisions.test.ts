// Tests what of the decisions and failures that a gateway gives is accepted, as a sidecar may say anything.

import { describe, expect, it } from '@jest/globals'
import {
  readDecisions,
  readFailures,
  readFoundDecisions,
} from '../../../../operator/fleet/client/read-decisions.ts'
import type { Value, ValueMap } from '../../../../language/expression/value.ts'
import { aDecision } from '../../../support/a-decision.ts'

const NOW = 1_000_000_000

const DOCUMENT = { id: 'a', version: 'v1', realm: 'r', path: '/a', action: 'forward' }
const TRIED = { document: 'a', host: 'h', path: '/a', reason: 'segment', matchedSegments: 0 }
const CALLER = { scheme: 'basic', method: 'password', hash: '0123' }

const nested = (depth: number): Value => (depth === 0 ? 1 : [nested(depth - 1)])

describe('a decision of a gateway', () => {
  it.each<[string, ValueMap]>([
    ['the least', {}],
    [
      'all',
      { document: { ...DOCUMENT, digest: 'd' }, tried: [TRIED], caller: CALLER, attempts: 2 },
    ],
    ['a member that is not known', { newer: { of: ['x'] } }],
  ])('is accepted with %s', (_title, more) => {
    expect(readDecisions({ decisions: [aDecision(more)] })).toEqual([aDecision(more)])
  })

  it.each<[string, ValueMap]>([
    ['a number for a method', { method: 7 }],
    ['a text for a status', { status: '500' }],
    ['a list for a code', { code: ['x'] }],
    ['null for a pointer', { pointer: null }],
    ['null for a document', { document: null }],
    ['a document without a path', { document: { ...DOCUMENT, path: null } }],
    ['no list of routes', { tried: { length: 1 } }],
    ['a route that is none', { tried: [null] }],
    ['a caller without a hash', { caller: { scheme: 'basic' } }],
    ['a long text', { newer: 'x'.repeat(20_000) }],
    ['a long name', { ['x'.repeat(20_000)]: 1 }],
    ['many values', { newer: Array<number>(20_000).fill(1) }],
    ['depth', { newer: nested(50) }],
  ])('is dropped with %s, and hides no other', (_title, more) => {
    const rows = [aDecision(more), aDecision()]
    expect(readDecisions({ decisions: rows })).toEqual([aDecision()])
    const failures = rows.map((row) => ({ ...row, ended_ms: NOW }))
    expect(readFailures({ failures }, NOW)?.map(({ failure }) => failure)).toEqual([
      aDecision({ ended_ms: NOW }),
    ])
  })

  it.each(['id', 'at', 'ms', 'method', 'status', 'step'])('is dropped without %s', (name) => {
    const rest = Object.entries(aDecision()).filter(([each]) => each !== name)
    expect(readDecisions({ decisions: [Object.fromEntries(rest)] })).toEqual([])
  })
})

describe('the time of a failure', () => {
  it.each<[Value, number]>([
    [NOW, 1],
    [NOW + 60_000, 1],
    [NOW + 60_001, 0],
    [9e15, 0],
    [Infinity, 0],
    [NOW + 0.5, 0],
    [-1, 0],
    ['1', 0],
    [null, 0],
  ])('%j: %i is accepted', (endedMs, count) => {
    const failures = [aDecision({ ended_ms: endedMs })]
    expect(readFailures({ failures }, NOW)).toHaveLength(count)
  })
})

describe('what an operator or a gateway says of one request', () => {
  const decisions = [aDecision({ gateway: 'another' }), { odd: true }]
  it.each<[string, unknown, object | undefined]>([
    ['of a gateway', { decisions: [aDecision()] }, { decisions: [aDecision()], silent: [] }],
    [
      'of an operator, under the name that the operator has for the gateway',
      { gateways: [{ name: 'one', decisions }], silent: ['two'] },
      { decisions: [aDecision({ gateway: 'one' })], silent: ['two'] },
    ],
    [
      'without gateways that have no name, or none of theirs',
      { gateways: [{ decisions }, { name: 'x'.repeat(257), decisions }, 7, { name: 'one' }] },
      { decisions: [], silent: [] },
    ],
    [
      'without names that are none',
      { gateways: [], silent: [7, 'x'.repeat(257), 'two'] },
      { decisions: [], silent: ['two'] },
    ],
    ['without a list of silent ones', { gateways: [], silent: 7 }, { decisions: [], silent: [] }],
    ['of neither', { gateways: 7 }, undefined],
    ['of nothing', null, undefined],
  ])('is read %s', (_, body, expected) => {
    expect(readFoundDecisions(body)).toEqual(expected)
  })
})
