import { describe, expect, it } from '@jest/globals'
import { once, oncePer } from '../../base/once.ts'

describe('what is made once', () => {
  it.each<[string, object | string | number]>([
    ['an object', { name: 'a' }],
    ['an empty text', ''],
    ['zero', 0],
  ])('is made at the first use alone, be it %s', (_, value) => {
    let calls = 0
    const made = once(() => {
      calls++
      return value
    })
    expect(calls).toBe(0)
    expect([made(), made(), calls]).toEqual([value, value, 1])
  })

  it('is made again where it could not be', () => {
    let fails = true
    const made = once(() => {
      if (fails) throw new Error('broken')
      return 1
    })
    expect(made).toThrow('broken')
    fails = false
    expect(made()).toBe(1)
  })
})

it('makes once for each object, and again what could not be made', () => {
  const asked: object[] = []
  let fails = true
  const nameOf = oncePer((key: { readonly name: string }) => {
    asked.push(key)
    if (key.name === 'broken' && fails) throw new Error('broken')
    return { name: key.name }
  })
  const [one, twin, broken] = [{ name: 'a' }, { name: 'a' }, { name: 'broken' }]
  expect(nameOf(one)).toBe(nameOf(one))
  expect(nameOf(twin)).not.toBe(nameOf(one))
  expect(() => nameOf(broken)).toThrow('broken')
  fails = false
  expect(nameOf(broken)).toEqual({ name: 'broken' })
  expect(asked).toEqual([one, twin, broken, broken])
})
