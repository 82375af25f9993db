// Asks a gateway what a command wants to know of it.

import { credentialFiles } from '../../operator/credential-files.ts'
import { describeResponse } from '../../operator/fleet/client/describe-response.ts'
import type {
  ManagementResponse,
  ManagementClient,
} from '../../operator/fleet/management-client.ts'
import type { ManagementSettings } from '../../operator/management-settings.ts'

/** Where routes are read from: files, as `validate` takes them, or a gateway. */
export interface SourceSettings extends ManagementSettings {
  readonly class: string
  readonly maxRoutes: number
}

const TIMEOUT_MS = 30_000

/** The response of the gateway, or why there is none, as one line. */
export type GatewayResult<T> = { readonly value: T } | { readonly error: string }

/** @example askGateway('http://127.0.0.1:18081', settings, (client) => client.explain(request)) */
export const askGateway = async <T>(
  url: string,
  settings: ManagementSettings,
  ask: (client: ManagementClient) => Promise<ManagementResponse<T>>,
): Promise<GatewayResult<T>> => {
  // Files alone need no HTTP client, which takes longer to load than they to be read.
  const [{ ManagementClient }, { createCredentialReader }] = await Promise.all([
    import('../../operator/fleet/management-client.ts'),
    import('../../operator/fleet/client/credentials.ts'),
  ])
  const client = new ManagementClient(
    { name: url, url, labels: {} },
    { credentials: createCredentialReader(credentialFiles(settings)), timeoutMs: TIMEOUT_MS },
  )
  try {
    const response = await ask(client)
    return response.result === 'ok'
      ? { value: response.value }
      : { error: `${url}: ${describeResponse(response)}` }
  } finally {
    await client.close()
  }
}
