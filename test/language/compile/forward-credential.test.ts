// What is refused at load of a forward that names a credential of its realm.

import { describe, expect, it } from '@jest/globals'
import type { RealmFacts } from '../../../language/realm/environment.ts'
import { compiledGet, type Parts, problemsOf } from '../documents.ts'

const REALM: RealmFacts = {
  authmethods: [],
  oidcProviders: [],
  credentials: {
    billing: { kind: 'bearer', origins: ['https://billing.example', 'http://billing.shop:8080'] },
    exchanged: { kind: 'token_exchange', origins: ['https://billing.example'] },
    refunds: { kind: 'token_exchange', origins: [], isWithheld: true },
    certified: { kind: 'certificate', origins: ['https://billing.example'] },
  },
}

const HOST = 'https://billing.example'

const withAction = (action: object, more: object = {}, realm = REALM): Parts => ({
  realm,
  paths: { '/x': { ...more, get: { action: { type: 'forward', host: HOST, ...action } } } },
})

const OAUTH2 = { security: { type: 'oauth2', flow: 'client_credentials' } }

describe('a credential of a forward', () => {
  it.each<[string, Parts]>([
    ['by its name', withAction({ credential: 'billing' })],
    [
      'by a variable',
      {
        ...withAction({ credential: '{{variables.name}}' }),
        api: { variables: { name: 'billing' } },
      },
    ],
    [
      'for a host in other letters',
      withAction({ credential: 'billing', host: 'https://BILLING.example:443' }),
    ],
    ['for a host without scheme', withAction({ credential: 'billing', host: 'billing.shop:8080' })],
    [
      'for a host that a request decides',
      withAction({ credential: 'billing', host: '{{request.headers |> get(x, a)}}' }),
    ],
    ['of a caller with a token', withAction({ credential: 'exchanged' }, OAUTH2)],
    [
      'of callers with a token in a list',
      withAction({ credential: 'exchanged' }, { security: [OAUTH2.security] }),
    ],
    [
      'a certificate beside the header',
      withAction({ credential: 'certified', headers: { authorization: 'x' } }),
    ],
    ['other headers', withAction({ credential: 'billing', headers: { 'x-authorization': 'x' } })],
    [
      'though it is withheld, which another says',
      withAction({ credential: 'refunds', headers: { authorization: 'x' } }),
    ],
    [
      'of a realm that is not known',
      withAction({ credential: 'any' }, {}, { authmethods: [], oidcProviders: [] }),
    ],
  ])('may stand %s', (_, parts) => {
    expect(problemsOf(parts)).toEqual([])
  })

  it.each<[string, Parts, string, RegExp]>([
    [
      'a name that is not there',
      withAction({ credential: 'biling' }),
      'credential',
      /no credential 'biling'; did you mean 'billing'\?/,
    ],
    [
      'a name like that of one that is withheld',
      withAction({ credential: 'refund' }),
      'credential',
      /no credential 'refund'$/,
    ],
    [
      'a name of every object',
      withAction({ credential: 'constructor' }),
      'credential',
      /no credential/,
    ],
    [
      'a realm without any',
      withAction({ credential: 'billing' }, {}, { ...REALM, credentials: {} }),
      'credential',
      /it has none/,
    ],
    [
      'a name that the request decides',
      withAction({ credential: '{{request.headers |> get(x)}}' }),
      'credential',
      /known when the document is loaded/,
    ],
    [
      'another host',
      withAction({ credential: 'billing', host: 'https://billing.exmple' }),
      'host',
      /not an origin of the credential 'billing'.*did you mean 'https:\/\/billing.example'/,
    ],
    [
      'another scheme',
      withAction({ credential: 'billing', host: 'http://billing.example' }),
      'host',
      /not an origin/,
    ],
    [
      'one of several hosts',
      withAction({
        credential: 'billing',
        host: undefined,
        hosts: [
          { host: HOST, weight: 1 },
          { host: 'http://a', weight: 0 },
        ],
      }),
      'hosts/1/host',
      /not an origin/,
    ],
    [
      'a header of its own',
      withAction({ credential: 'billing', headers: { Authorization: 'x' } }),
      'headers/Authorization',
      /leave out one/,
    ],
    [
      'a header that a request fills',
      withAction({ credential: 'billing', headers: { authorization: '{{request.headers.a}}' } }),
      'headers/authorization',
      /leave out one/,
    ],
    [
      'a list with a caller without a token',
      withAction({ credential: 'exchanged' }, { security: [OAUTH2.security, {}] }),
      'credential',
      /oauth2 or oidc/,
    ],
    [
      'a caller without a token',
      withAction({ credential: 'exchanged' }),
      'credential',
      /oauth2 or oidc/,
    ],
  ])('is refused with %s', (_, parts, path, message) => {
    const paths = JSON.parse(JSON.stringify(parts.paths)) as Parts['paths']
    expect(problemsOf({ ...parts, paths: paths ?? {} })).toMatchObject([
      {
        path: `/versions/v1/paths/~1x/get/action/${path}`,
        message: expect.stringMatching(message),
      },
    ])
  })

  it('is refused for OPTIONS, which is not authenticated', () => {
    const action = { type: 'forward', host: HOST, credential: 'exchanged' }
    const paths = { '/x': { ...OAUTH2, options: { action } } }
    expect(problemsOf({ realm: REALM, paths })).toMatchObject([
      { message: expect.stringMatching(/OPTIONS/) },
    ])
  })

  it('stays in the compiled form', () => {
    expect(compiledGet(withAction({ credential: 'billing' })).action).toMatchObject({
      credential: 'billing',
    })
  })
})
