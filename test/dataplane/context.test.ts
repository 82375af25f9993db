import { describe, expect, it } from '@jest/globals'
import { Context } from '../../dataplane/context.ts'

describe('Context', () => {
  it('has every field of a request from the start, and none besides', () => {
    const { request } = new Context()
    expect(Object.keys(request).sort()).toEqual([
      'bindings',
      'body',
      'body_length',
      'client_address',
      'headers',
      'host',
      'id',
      'language',
      'method',
      'path',
      'peername',
      'port',
      'query_params',
      'query_string',
      'scheme',
    ])
    for (const key of ['constructor', '__proto__', 'toString'])
      expect(Object.hasOwn(request, key)).toBe(false)
  })

  it('shares nothing with another one', () => {
    const [one, other] = [new Context(), new Context()]
    one.request.path = '/x'
    one.budget = 0
    expect([other.request.path, other.budget]).toEqual(['', 8 * 1024 * 1024])
  })

  it('holds empty maps that can not be filled', () => {
    const { request, action, security, status_codes } = new Context()
    for (const map of [
      request.headers,
      request.query_params,
      request.bindings,
      action,
      security,
      status_codes,
    ])
      expect(Object.isFrozen(map)).toBe(true)
  })
})
