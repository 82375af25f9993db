import { describe, expect, it } from '@jest/globals'
import type { ClientAuth } from 'openid-client'
import { clientAuthentication } from '../../../../dataplane/oidc/provider/client-authentication.ts'
import type { OidcProviderRecord } from '../../../../language/realm/record.ts'
import { providerRecord } from '../room.ts'

const metadata = {
  issuer: 'https://idp.example',
  token_endpoint: 'https://idp.example/token',
  jwks_uri: 'https://idp.example/jwks',
}

/** What a token request carries then. */
const shownBy = async (
  method: OidcProviderRecord['token_endpoint_auth_method'],
  listed: string[] | undefined,
): Promise<{ readonly form: readonly string[]; readonly isBasic: boolean }> => {
  const record = providerRecord(metadata.issuer, {
    ...(method !== undefined && { token_endpoint_auth_method: method }),
  })
  // Some response at once, some later, whatever their type says.
  const authenticate: (...given: Parameters<ClientAuth>) => unknown = await clientAuthentication(
    record,
    {
      ...metadata,
      ...(listed && { token_endpoint_auth_methods_supported: listed }),
    },
  )
  const body = new URLSearchParams()
  const headers = new Headers()
  await authenticate(metadata, { client_id: record.client_id }, body, headers)
  return {
    form: [...body.keys()],
    isBasic: headers.get('authorization')?.startsWith('Basic ') ?? false,
  }
}

describe('Basic', () => {
  it.each([
    [
      '00000003-0000-0ff1-ce00-000000000000',
      'x8Q~a_b.c-d!*()',
      '00000003-0000-0ff1-ce00-000000000000:x8Q~a_b.c-d!*()',
    ],
    ['urn:app', 'a:b%c+d', 'urn%3Aapp:a%3Ab%25c%2Bd'],
    // RFC 6749, Appendix B.
    ['id', ' %&+£€', 'id:+%25%26%2B%C2%A3%E2%82%AC'],
    ['id', 'Y2/d==\ud800', 'id:Y2%2Fd%3D%3D%EF%BF%BD'],
  ])('encodes of %s and %s only what must be: %s', async (id, secret, pair) => {
    const record = providerRecord(metadata.issuer, { client_secret: secret })
    const authenticate: (...given: Parameters<ClientAuth>) => unknown = await clientAuthentication(
      record,
      metadata,
    )
    const headers = new Headers()
    await authenticate(metadata, { client_id: id }, new URLSearchParams(), headers)
    const [, encoded = ''] = headers.get('authorization')?.split(' ') ?? []

    expect(Buffer.from(encoded, 'base64').toString()).toBe(pair)
  })
})

const POST = { form: ['client_id', 'client_secret'], isBasic: false }
const BASIC = { form: [], isBasic: true }

describe('the gateway shows who it is', () => {
  it.each([
    ['Basic where nothing is said', undefined, undefined, BASIC],
    [
      'Basic where both are listed',
      undefined,
      ['client_secret_post', 'client_secret_basic'],
      BASIC,
    ],
    ['the form where nothing else is listed', undefined, ['client_secret_post'], POST],
    ['the configured way, whatever is listed', 'client_secret_post', ['client_secret_basic'], POST],
    [
      'a token that its secret signs',
      'client_secret_jwt',
      undefined,
      { form: ['client_id', 'client_assertion_type', 'client_assertion'], isBasic: false },
    ],
    ['its id alone', 'none', undefined, { form: ['client_id'], isBasic: false }],
  ] as const)('by %s', async (_, method, listed, shown) => {
    expect(await shownBy(method, listed && [...listed])).toEqual(shown)
  })
})
