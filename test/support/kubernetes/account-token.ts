// Creates a token of a service account. The account, and its namespace, are made where they are missing.

import { type ApiRequest, type ApiResponse, demand } from './api-client.ts'

const TOKEN_S = 86_400

export const createAccountToken = async (
  send: (request: ApiRequest) => Promise<ApiResponse>,
  namespace: string,
  name: string,
): Promise<string> => {
  const create = async (path: string, created: string): Promise<void> => {
    const body = { metadata: { name: created } }
    demand(await send({ method: 'POST', path, body }), 409)
  }
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`
  await create('/api/v1/namespaces', namespace)
  await create(accounts, name)
  const body = { spec: { expirationSeconds: TOKEN_S } }
  const response = demand(await send({ method: 'POST', path: `${accounts}/${name}/token`, body }))
  return (response.json() as { readonly status: { readonly token: string } }).status.token
}
