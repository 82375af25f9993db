// A real gateway, a real identity provider behind a proxy that can misbehave, and realms with a protected API:
// what every test of logging in needs. The gateway believes that it is https://api.example.com.

import { generateKeyPairSync, randomBytes, type JsonWebKey } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { IdpUser } from '../../../dev/idp/accounts.ts'
import { startGateway, type GatewayProcess } from '../../support/gateway-process.ts'
import { newProxyKeys, startIdpProxy, type IdpProxy } from '../../support/idp-proxy.ts'
import { Browser, logIn, type BrowserOptions, type Page } from '../../support/login-driver.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { post } from '../gateway-client.ts'

export const OWN = 'https://api.example.com'
const CLIENT = { clientId: 'gateway', clientSecret: 'idp-secret' } as const

export interface LoginRig extends AsyncDisposable {
  readonly gateway: GatewayProcess
  /** For another gateway of the same deployment. */
  readonly flags: readonly string[]
  /** Of `--oidc-state-keys-file`. */
  readonly stateKey: { readonly kid: string; readonly key: Buffer }
  readonly browser: (options?: Omit<BrowserOptions, 'routes'>) => Browser
  /** A provider of its own for each call. */
  readonly idp: (options?: ProviderOptions) => Promise<IdpProxy>
  /** A realm with its providers, and an API at `base` that asks for a ticket of it. Replaces one of that name. */
  readonly serve: (api: ServedApi) => Promise<void>
}

export interface ProviderOptions {
  /** Names of APIs whose callbacks it knows. */
  readonly apis?: readonly string[]
  /** Names of the provider at those APIs. */
  readonly names?: readonly string[]
  readonly users?: readonly IdpUser[]
  readonly postLogoutRedirectUris?: readonly string[]
  readonly backChannelLogoutUri?: string
}

export interface ServedApi {
  /** Its base path without the slash, and its id. */
  readonly name: string
  readonly realm: string
  /** The scheme's is `corp`. */
  readonly providers: Readonly<Record<string, ServedProvider>>
  readonly signingKeys?: readonly JsonWebKey[]
  /** Of the realm, for forwards. */
  readonly credentials?: object
  /** Beside `/me`. */
  readonly paths?: Readonly<Record<string, object>>
}

export interface ServedProvider {
  readonly issuer: string
  readonly [setting: string]: unknown
}

const keys = newProxyKeys()

export const startLoginRig = async (flags: readonly string[] = []): Promise<LoginRig> => {
  const dir = await makeTempDir()
  const stateKey = { kid: 'test', key: randomBytes(32) }
  const file = join(dir.path, 'state-keys.json')
  const ring = { keys: [{ kid: stateKey.kid, k: stateKey.key.toString('base64url') }] }
  await writeFile(file, JSON.stringify(ring))
  const allFlags = ['--base-url', OWN, '--oidc-state-keys-file', file, ...flags]
  const gateway = await startGateway({ flags: allFlags })
  const proxies: IdpProxy[] = []
  return {
    gateway,
    flags: allFlags,
    stateKey,
    browser: (options = {}) => new Browser({ ...options, routes: { [OWN]: gateway.public } }),
    idp: async (options = {}) => {
      const proxy = await startProvider(options)
      proxies.push(proxy)
      return proxy
    },
    serve: (api) => serve(gateway, api),
    [Symbol.asyncDispose]: async () => {
      await gateway.stop()
      for (const proxy of proxies) await proxy.close()
      await dir[Symbol.asyncDispose]()
    },
  }
}

const startProvider = ({
  apis = ['v1'],
  names = ['corp'],
  users,
  postLogoutRedirectUris = [],
  backChannelLogoutUri,
}: ProviderOptions): Promise<IdpProxy> =>
  startIdpProxy(
    {
      ...(users === undefined ? {} : { users }),
      clients: [
        {
          ...CLIENT,
          redirectUris: apis.flatMap((api) => names.map((name) => callbackOf(api, name))),
          postLogoutRedirectUris,
          ...(backChannelLogoutUri === undefined ? {} : { backChannelLogoutUri }),
        },
      ],
    },
    keys,
  )

export const callbackOf = (api: string, provider = 'corp'): string =>
  `${OWN}/${api}/oidc/${provider}/callback`

export const loginOf = (api: string, query: Readonly<Record<string, string>> = {}): string =>
  `${OWN}/${api}/oidc/login?${new URLSearchParams(query).toString()}`

/** What `rig.serve` does, at any gateway. */
export const serve = async (
  gateway: GatewayProcess,
  { name, realm, providers, signingKeys, credentials, paths }: ServedApi,
): Promise<void> => {
  const entries = Object.entries(providers).map(([provider, settings]) => [
    provider,
    {
      client_id: CLIENT.clientId,
      client_secret: CLIENT.clientSecret,
      redirect_uri: callbackOf(name, provider),
      allow_unsafe_http: true,
      ...settings,
    },
  ])
  const record = {
    uri: realm,
    authmethods: ['oidcrp', 'cookie'],
    info: { oidc_providers: Object.fromEntries(entries) as unknown },
    ...(signingKeys === undefined ? {} : { signing_keys: signingKeys }),
    ...(credentials && { credentials }),
  }
  for (const [path, body] of [
    ['/realms', record],
    ['/api_specs', documentOf(name, realm, paths)],
  ] as const) {
    const { status, text } = await post(gateway, path, body)
    if (status !== 204) throw new Error(`${path}: ${status} ${text}`)
  }
}

const documentOf = (name: string, realm: string, paths: ServedApi['paths'] = {}): object => {
  const says = (body: unknown): object => ({ action: { type: 'static', body }, response: {} })
  const done = says('done')
  return {
    id: name,
    host: '_',
    realm_uri: realm,
    defaults: { security: { type: 'oidc', provider: 'corp' } },
    versions: {
      v1: {
        base_path: `/${name}`,
        paths: {
          ...paths,
          '/me': {
            get: says({ authid: '{{security.authid}}', roles: '{{security.authroles}}' }),
            post: done,
            put: done,
            patch: done,
            delete: done,
          },
        },
      },
    },
  }
}

/** A realm's own key, for tests that sign tickets themselves. */
export const newSigningKey = (): JsonWebKey =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' })

/** A finished login. @throws Error with the response that was no success */
export const logInAt = async (
  browser: Browser,
  api: string,
  username = 'alice',
  query: Readonly<Record<string, string>> = {},
): Promise<Page> => {
  const page = await logIn(browser, loginOf(api, query), username)
  if (page.status !== 302) throw new Error(`${page.status} ${page.text}`)
  return page
}

export const ticketOf = (browser: Browser, realm: string): string =>
  browser.jar.get(`svc_ticket_${realm}`)?.value ?? ''

/** One of the responses that a row of a table allows. */
export interface Allowed {
  readonly status: number | readonly number[]
  readonly error?: string | readonly string[]
}

export interface Row extends Allowed {
  readonly or?: readonly Allowed[]
}

/** undefined where a response is what the row asks for, and holds a ticket only if it is a success. */
export const misfit = (page: Page, row: Row): object | undefined => {
  const isAllowed = [row, ...(row.or ?? [])].some(
    ({ status, error }) =>
      [status].flat().includes(page.status) &&
      (error === undefined ||
        [error].flat().some((code) => page.text === JSON.stringify({ error: code }))),
  )
  const tickets = page.setCookies.filter((line) => /^svc_(?:ticket|csrf)_[^=]*=[^;]/.test(line))
  if (isAllowed && tickets.length === (page.status === 302 ? 2 : 0)) return undefined
  return { status: page.status, text: page.text, headers: page.headers }
}
