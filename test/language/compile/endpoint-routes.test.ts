import { describe, expect, it } from '@jest/globals'
import type { CompiledEndpoint } from '../../../language/compile/security.ts'
import { endpointRoutes } from '../../../language/compile/endpoint-routes.ts'

const oidc = (provider: string): CompiledEndpoint => ({ type: 'oidc', provider })
const oauth2 = (more: object = {}): CompiledEndpoint => ({
  type: 'oauth2',
  flow: 'client_credentials',
  tokenPath: '/oauth/token',
  revokeTokenPath: '/oauth/revoke',
  ...more,
})

const shown = (...endpoints: readonly CompiledEndpoint[]): readonly string[] =>
  endpointRoutes(endpoints).map(({ name, path }) => `${name} ${path}`)

describe('the endpoints of a version', () => {
  it('are none without schemes that have some', () => {
    expect(shown()).toEqual([])
  })

  it('of oidc are those that its room answers, each with OPTIONS, and verify', () => {
    const routes = endpointRoutes([oidc('corp')])
    expect(routes.map(({ name, path, methods }) => ({ name, path, methods }))).toEqual([
      { name: 'login', path: '/oidc/login', methods: ['get', 'options'] },
      { name: 'callback', path: '/oidc/:provider/callback', methods: ['get', 'options'] },
      { name: 'logout', path: '/oidc/logout', methods: ['get', 'options', 'post'] },
      {
        name: 'backChannelLogout',
        path: '/oidc/:provider/backchannel-logout',
        methods: ['options', 'post'],
      },
      { name: 'oidcVerify', path: '/oidc/verify', methods: ['get', 'head', 'options'] },
    ])
  })

  it('of several oidc schemes are those of the first', () => {
    const routes = endpointRoutes([oidc('corp'), oidc('other')])
    expect(routes).toEqual(endpointRoutes([oidc('corp')]))
  })

  it('of several oauth2 schemes are the union, flows too', () => {
    const other = oauth2({ flow: 'implicit', tokenPath: '/token' })
    expect(shown(oauth2(), other, oauth2({ flow: 'implicit' }))).toEqual([
      'token /oauth/token',
      'revoke /oauth/revoke',
      'oauthVerify /oauth/verify',
      'token /token',
    ])
    const flows = endpointRoutes([oauth2(), other]).map((route) => route.flows)
    expect(flows).toEqual([
      ['client_credentials'],
      ['client_credentials', 'implicit'],
      ['client_credentials', 'implicit'],
      ['implicit'],
    ])
  })

  it('may have names of prototype members', () => {
    const strange = oauth2({ tokenPath: '/constructor', revokeTokenPath: '/__proto__' })
    expect(shown(strange).slice(0, 2)).toEqual(['token /constructor', 'revoke /__proto__'])
  })
})
