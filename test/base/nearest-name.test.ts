import { describe, expect, it } from '@jest/globals'
import { didYouMean, findMisspelt, nearestName } from '../../base/nearest-name.ts'

const NAMES = [
  'get',
  'put',
  'post',
  'timeout',
  'base_path',
  'realm_uri',
  'response',
  'body_max_bytes',
]

describe('the nearest name', () => {
  it.each([
    ['gett', 'get'],
    ['GET', 'get'],
    ['geet', 'get'],
    ['gte', 'get'],
    ['pot', 'put'],
    ['basepath', 'base_path'],
    ['realmUri', 'realm_uri'],
    ['time-out', 'timeout'],
    ['tiemout', 'timeout'],
    ['respones', 'response'],
    ['body_max', 'body_max_bytes'],
    ['body', undefined],
    ['get', undefined],
    ['', undefined],
    ['p', undefined],
    ['something', undefined],
    ['constructor', undefined],
    ['x'.repeat(100_000), undefined],
  ])('to %j is %j', (name, near) => {
    const candidates = name === 'body' ? ['get', 'bytes'] : NAMES.filter((each) => each !== name)
    expect(nearestName(name, candidates)).toBe(near)
  })

  it.each([
    ['retry', ['retry_timeout', 'retries'], 'retries'],
    ['retries', ['retry_timeout', 'retry'], 'retry'],
    ['query', ['query_params', 'queries'], 'queries'],
    ['retry', ['retry_timeout'], 'retry_timeout'],
    ['key', ['kies'], undefined],
  ])('to %j among %j is %j', (name, candidates, near) => {
    expect(nearestName(name, candidates)).toBe(near)
  })

  it('is the first of those that are as near', () => {
    expect(nearestName('bat', ['cat', 'hat'])).toBe('cat')
    expect(nearestName('bats', ['hat', 'bat'])).toBe('bat')
  })

  it('is never the name itself', () => {
    expect(nearestName('get', ['get'])).toBeUndefined()
  })

  it('looks at a bounded number of candidates', () => {
    const many = Array.from({ length: 2000 }, (_, index) => `candidate-${index}-of-many`)
    expect(nearestName('ruote', [...many, 'route'])).toBeUndefined()
  })

  it.each([
    ['abcdefgh', 'abXdefgY', 'abXdeZgY'],
    ['abcdefgh', 'badcefgh', 'badcfegh'],
    ['abcdefgh', 'abcdefghij', 'abcdefghijk'],
    ['abcdefgh', 'cdefgh', 'defgh'],
    ['abcdefgh', 'bcdefgha', 'cdefghab'],
  ])('to %j is %j, two letters away, and not %j, three or more', (name, near, far) => {
    expect(nearestName(name, [far])).toBeUndefined()
    expect(nearestName(name, [far, near])).toBe(near)
    expect(nearestName(near, [name])).toBe(name)
  })

  it('ends a sentence', () => {
    expect(didYouMean('ruote', ['route'])).toBe("; did you mean 'route'?")
    expect(didYouMean('x', ['route'])).toBe('')
  })
})

describe('findMisspelt', () => {
  it.each<[string, string, boolean]>([
    ['the same', 'security', true],
    ['in another case', 'SECURITY', true],
    ['a letter replaced at the start', 'xecurity', true],
    ['a letter replaced at the end', 'securitx', true],
    ['a letter left out', 'secrity', true],
    ['a letter put in', 'secuurity', true],
    ['a letter put in at the end', 'securityy', true],
    ['two neighbours swapped', 'secuirty', true],
    ['the last two swapped', 'securiyt', true],
    ['any number of separators', 's-e_c-u_r-i_t-y', true],
    ['two letters replaced', 'xecuritx', false],
    ['two letters that are no neighbours swapped', 'sucerity', false],
    ['two letters left out', 'securt', false],
    ['one put in and one replaced', 'xsecuritx', false],
    ['longer than any name', `security${'-'.repeat(60)}`, false],
    ['empty', '', false],
  ])('%s: %j', (_, name, isFound) => {
    expect(findMisspelt(['accepts', 'security'])(name)).toBe(isFound ? 'security' : undefined)
  })
})
