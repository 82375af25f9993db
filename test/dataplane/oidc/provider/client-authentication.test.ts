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
