import { expect, it } from '@jest/globals'
import { oncePer } from '../../base/once.ts'

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
