import { describe, expect, it } from '@jest/globals'
import { holdsInfinity } from '../../base/json-infinity.ts'

const NINES = '9'.repeat(309)

describe('holdsInfinity', () => {
  it.each([
    '1e400',
    '[-1E+309]',
    '{"a":[{"b":1.0e0999}]}',
    NINES,
    `[1,"${'a'.repeat(1000)}",${NINES},"x"]`,
    `{"a":${'9'.repeat(250)}e99}`,
    `${'9'.repeat(305)}e9`,
    `[${'"1",'.repeat(500)}-${NINES}.5]`,
  ])('%s', (text) => {
    expect(holdsInfinity(text, JSON.parse(text))).toBe(true)
  })

  it.each([
    '1e308',
    '1e-400',
    '"1e400"',
    `"${NINES}"`,
    `{"${NINES}":1e10}`,
    '9'.repeat(308),
    `0.${NINES}`,
    '[null,true,"e999",1]',
    '',
  ])('not %s', (text) => {
    expect(holdsInfinity(text, text === '' ? '' : JSON.parse(text))).toBe(false)
  })
})
