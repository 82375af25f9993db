// How V8 stores a map is no part of what it is, and only seen by the functions of V8 itself.

import { expect, it } from '@jest/globals'
import { setFlagsFromString } from 'node:v8'
import { runInThisContext } from 'node:vm'
import { createTable, setOwn, type Value } from '../../../language/expression/value.ts'

setFlagsFromString('--allow-natives-syntax')
const isHashTable = runInThisContext('(map) => %HasDictionaryElements(map)') as (
  map: object,
) => boolean

const fill = (map: Record<string, Value>): Record<string, Value> => {
  for (let at = 0; at < 20_000; at++) setOwn(map, String((at * 7919) % 100_003), at)
  return map
}

it('a table never becomes a list, however many of its keys are numbers', () => {
  expect(isHashTable(fill({}))).toBe(false)
  const table = fill(createTable())
  expect(isHashTable(table)).toBe(true)
  expect(Object.keys(table)).toHaveLength(20_000)
})

it('a table is an empty map', () => {
  expect([Object.keys(createTable()), Object.getPrototypeOf(createTable())]).toEqual([
    [],
    Object.prototype,
  ])
})
