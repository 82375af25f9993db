// Messages: what they show, and that they stay bounded.

import { describe, expect, it } from '@jest/globals'
import {
  boundMessage,
  ExpressionError,
  explainFunctionError,
  kindOf,
  FunctionError,
  showValue,
} from '../../../language/expression/errors.ts'
import { explainMissing, lookup } from '../../../language/expression/lookup.ts'
import type { Value } from '../../../language/expression/value.ts'

describe('boundMessage', () => {
  it.each([
    ['short', 'short'],
    ['x'.repeat(1024), 'x'.repeat(1024)],
    ['x'.repeat(1025), `${'x'.repeat(1021)}…`],
    ['ž'.repeat(600), `${'ž'.repeat(509)}…`],
  ])('%#', (message, expected) => {
    expect(boundMessage(message)).toBe(expected)
  })

  it.each([0, 1, 2, 3])('never cuts a character in two, %i bytes off', (shift) => {
    const bounded = new ExpressionError('x'.repeat(shift) + '🎉'.repeat(400)).message
    expect(bounded.isWellFormed()).toBe(true)
    expect(Buffer.byteLength(bounded)).toBeLessThanOrEqual(1024)
  })
})

describe('values in messages', () => {
  it.each<[Value, string, string]>([
    ['a\n"', 'text "a\\n\\""', 'text'],
    ['x'.repeat(31) + '🎉', `text "${'x'.repeat(31)}…"`, 'text'],
    [1.5, 'number 1.5', 'a number'],
    [true, 'true', 'a boolean'],
    [null, 'null', 'null'],
    [[1], 'a list', 'a list'],
    [{}, 'a map', 'a map'],
    [new Uint8Array(2), 'bytes', 'bytes'],
  ])('%j', (value, shown, kind) => {
    expect(showValue(value)).toBe(shown)
    expect(kindOf(value)).toBe(kind)
  })

  it.each([
    [new FunctionError('takes a list', 1), 'f takes a list, got number 1'],
    [new FunctionError('takes a list'), 'f takes a list'],
    [new ExpressionError('too deep'), 'f failed: too deep'],
    [new RangeError('stack'), 'f failed: the value is too large'],
  ])('%s', (error, expected) => {
    expect(explainFunctionError('f', error, showValue)).toBe(expected)
  })
})

describe('lookup', () => {
  it.each<[Value, string[], Value | undefined]>([
    [{ a: { b: null } }, ['a', 'b'], null],
    [{ a: 1 }, [], { a: 1 }],
    [{ a: 1 }, ['b'], undefined],
    [{ a: 1 }, ['a', 'b'], undefined],
    [{}, ['__proto__'], undefined],
    [{}, ['constructor', 'prototype'], undefined],
    [[1], ['length'], undefined],
    [[1], ['0'], undefined],
    ['abc', ['length'], undefined],
    [new Uint8Array(1), ['0'], undefined],
    [JSON.parse('{"__proto__": 1}') as Value, ['__proto__'], 1],
  ])('%j %j', (value, keys, expected) => {
    expect(lookup(value, keys)).toEqual(expected)
  })

  it('has no reason to give for what is there', () => {
    expect(explainMissing({ a: 1 }, ['a'], 'request')).toBe('there is nothing at request.a')
  })
})
