import { expect, it } from '@jest/globals'
import { CodedError } from '../../base/coded-error.ts'

class CacheError extends CodedError<'full' | 'closed'> {}
class DiskCacheError extends CacheError {}

it.each([
  ['a class', CacheError],
  ['a class below it', DiskCacheError],
])('an error of %s has its name, code, message and cause', (_name, Class) => {
  const cause = new TypeError('because')
  const error = new Class('full', 'the cache is full', { cause })
  expect(error).toBeInstanceOf(Error)
  expect(error).toBeInstanceOf(CacheError)
  expect(error).toMatchObject({ name: Class.name, code: 'full', message: 'the cache is full' })
  expect(error.cause).toBe(cause)
  expect(error.stack).toMatch(/coded-error\.test\.ts/)
})

it('an error without a cause has none, not even an undefined one', () => {
  expect(new CacheError('closed', 'it is closed')).not.toHaveProperty('cause')
})
