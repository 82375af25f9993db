// The router of Express behind our own table: that it has the very routes that documents are validated by, and what it
// refuses by itself.

import { afterEach, describe, expect, it } from '@jest/globals'
import type {
  BuiltinRequest,
  RoutedBuiltinRequest,
} from '../../../../dataplane/http/builtin/builtin-request.ts'
import type { Rooms } from '../../../../dataplane/http/builtin/handlers.ts'
import { createRoutes, routeBuiltinRequest } from '../../../../dataplane/http/builtin/routes.ts'
import type { OidcRequest } from '../../../../dataplane/oidc/oidc-endpoint.ts'
import { endpointRoutes } from '../../../../language/compile/endpoint-routes.ts'
import { apiOf, serveGateway, type ServedGateway } from '../served-gateway.ts'

const asked: string[] = []

const played = (name: string) => (request: object) => {
  asked.push('pathProvider' in request ? `${name} ${String(request.pathProvider)}` : name)
  return Promise.resolve({ status: 200, headers: [], body: name })
}

const ROOMS: Rooms = {
  loadOidc: () =>
    Promise.resolve({
      login: played('login'),
      callback: (request: OidcRequest) => played('callback')(request),
      logout: played('logout'),
      backChannelLogout: played('backChannelLogout'),
    }),
  loadOAuth2: () => Promise.resolve({ token: played('token'), revoke: played('revoke') }),
  ownOrigin: undefined,
}

interface ListedRoute {
  readonly path: string
  readonly methods: readonly string[]
}

/** As router 2.3 has it; the types do not know it yet. */
type Listing = ReturnType<typeof createRoutes> & { listRoutes(): readonly ListedRoute[] }

describe('the routes', () => {
  it('are those that documents are validated by, but for what is answered in front', () => {
    const routes = (createRoutes(ROOMS) as Listing).listRoutes()
    const served = routes
      .filter(({ path }) => path !== '/*path')
      .flatMap(({ path, methods }) => methods.map((method) => `${method} ${path}`))
      // What Express adds to GET is refused before.
      .filter((route) => !route.startsWith('HEAD '))
    const validated = endpointRoutes([
      { type: 'oidc', provider: 'corp' },
      {
        type: 'oauth2',
        flow: 'client_credentials',
        tokenPath: '/oauth/token',
        revokeTokenPath: '/oauth/revoke',
      },
    ])
      .filter(({ name }) => name !== 'oidcVerify' && name !== 'oauthVerify')
      .flatMap(({ path, methods }) => methods.map((method) => `${method.toUpperCase()} ${path}`))
      .filter((route) => !route.startsWith('OPTIONS '))
    expect(served.sort()).toEqual(validated.sort())
    expect(routes[0]).toEqual({ path: '/*path', methods: ['HEAD'] })
  })
})

describe('a visit', () => {
  let gateway: ServedGateway

  afterEach(async () => {
    asked.length = 0
    await gateway[Symbol.asyncDispose]()
  })

  /** What a table says that differs from the router's. */
  const serveAs = async (
    change: (builtinRequest: RoutedBuiltinRequest) => Partial<RoutedBuiltinRequest>,
  ): Promise<void> => {
    const routes = createRoutes(ROOMS)
    const isRouted = (builtinRequest: BuiltinRequest): builtinRequest is RoutedBuiltinRequest =>
      builtinRequest.route !== undefined
    gateway = await serveGateway({
      endpoints: (builtinRequest) => {
        if (isRouted(builtinRequest))
          routeBuiltinRequest(routes, { ...builtinRequest, ...change(builtinRequest) })
      },
    })
    await gateway.load(
      apiOf({}, { defaults: { security: { type: 'oidc' } }, version: { base_path: '/v1' } }),
    )
  }

  const leadsTo =
    (path: string) =>
    ({ route }: RoutedBuiltinRequest): Partial<RoutedBuiltinRequest> => ({
      route: { ...route, path },
    })

  it.each([
    ['POST', '/v1/oidc/logout', '/oidc/login'],
    ['HEAD', '/v1/oidc/verify', '/oidc/login'],
    ['GET', '/v1/oidc/verify', '/oidc/verify'],
    ['GET', '/v1/oidc/login', '/oidc/Login'],
    ['GET', '/v1/oidc/login', '/oidc/login/'],
    ['GET', '/v1/oidc/login', '/v1/oidc/login'],
  ])('%s %s that led to %s is refused, whatever the table says', async (method, path, tail) => {
    await serveAs(leadsTo(tail))
    const response = await gateway.ask(method, path)
    expect([response.status, asked]).toEqual([405, []])
    expect(response.headers.allow).toMatch(/OPTIONS/)
    expect([gateway.refused, gateway.inFlight.count]).toEqual([['svc.error.method_not_allowed'], 0])
  })

  it.each(['corp', 'c/rp', '%', 'é?#', '$&', '...', ' '])(
    'binds what was sent: %s',
    async (name) => {
      await serveAs(() => ({}))
      const path = `/v1/oidc/${encodeURIComponent(name)}/callback`
      expect((await gateway.ask('GET', path)).status).toBe(200)
      expect(asked).toEqual([`callback ${name}`])
    },
  )

  it('leaves no trace in the request that is logged', async () => {
    await serveAs(() => ({}))
    await gateway.ask('GET', '/v1/oidc/login?client_id=a')
    expect(gateway.log[0]).toMatchObject({ target: '/v1/oidc/login?client_id=a' })
  })
})
