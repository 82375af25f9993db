// Tests the Host header that a forward sends: what of it loads, and how a document that writes the header itself is warned.

import { describe, expect, it } from '@jest/globals'
import type { RealmFacts } from '../../../language/realm/environment.ts'
import { compiled, compiledGet, type Parts, problemsOf } from '../documents.ts'

const REALM: RealmFacts = {
  authmethods: [],
  oidcProviders: [],
  credentials: { billing: { kind: 'bearer', origins: ['http://up'] } },
}

const withAction = (action: object, host = 'api.acme.com'): Parts => ({
  realm: REALM,
  api: { host },
  paths: { '/x': { get: { action: { type: 'forward', host: 'http://up', ...action } } } },
})

describe('host_header of a forward', () => {
  it.each([
    ['request', 'api.acme.com', 'request'],
    ['request', '[...].acme.com', 'request'],
    ['request', ':tenant.acme.com', 'request'],
    ['request', '[www.]acme.com', 'request'],
    ['upstream', '_', undefined],
    [undefined, '_', undefined],
  ])('%s in a document on %s loads', (written, host, expected) => {
    const action = written === undefined ? {} : { host_header: written }
    const compiled = compiledGet(withAction(action, host)).action
    expect([compiled.type, Reflect.get(compiled, 'hostHeader')]).toEqual(['forward', expected])
  })

  it.each<[string, Parts, string]>([
    [
      'beside a credential',
      withAction({ host_header: 'request', credential: 'billing' }),
      'leave out one of the two',
    ],
    ['in a document on _', withAction({ host_header: 'request' }, '_'), "the document is on '_'"],
    [
      'in one on any name of two labels',
      withAction({ host_header: 'request' }, ':_.:_'),
      "the document is on '_'",
    ],
    ['that is neither of the two', withAction({ host_header: 'client' }), 'request'],
    ['that a request decides', withAction({ host_header: '{{request.headers.x}}' }), 'known'],
  ])('%s is refused', (_, parts, message) => {
    expect(problemsOf(parts)).toMatchObject([
      {
        code: 'invalid_value',
        path: '/versions/v1/paths/~1x/get/action/host_header',
        message: expect.stringContaining(message),
      },
    ])
  })

  it('is what a document is warned of that writes the header', () => {
    const { warnings } = compiled(withAction({ headers: { Host: 'a' } }))
    expect(warnings.map(({ message }) => message)).toEqual([
      expect.stringContaining('host_header: request'),
    ])
  })
})
