import { expect, it } from '@jest/globals'
import { ApiError, isApiError } from '../../../../operator/kubernetes/client/api.ts'

it.each([
  [0, 'no_response'],
  [301, 'rejected'],
  [400, 'rejected'],
  [401, 'unauthorized'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [408, 'request_timeout'],
  [409, 'conflict'],
  [410, 'expired'],
  [422, 'rejected'],
  [429, 'too_many_requests'],
  [500, 'server_error'],
  [504, 'server_error'],
] as const)('a response of status %d is %s', (status, code) => {
  const error = new ApiError('no', { status })
  expect(error).toMatchObject({ name: 'ApiError', status, code })
  expect(isApiError(error, code)).toBe(true)
  expect(isApiError(error)).toBe(false)
})

it('an error of another class is no ApiError, whatever its code', () => {
  expect(isApiError(Object.assign(new Error('no'), { code: 'conflict' }), 'conflict')).toBe(false)
})
