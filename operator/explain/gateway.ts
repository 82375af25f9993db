// Asks a gateway for its routes, and for the explanation of a request.

import { credentialFiles } from '../credential-files.ts'
import { describeResponse } from '../fleet/client/describe-response.ts'
import type { ManagementResponse, ManagementClient } from '../fleet/management-client.ts'
import type { ManagementSettings } from '../management-settings.ts'
import type { ValidateOutput } from '../validate/validate-command.ts'

/** Where routes are read from: files, as `validate` takes them, or a gateway. */
export interface SourceSettings extends ManagementSettings {
  readonly class: string
  readonly maxRoutes: number
}

export interface SourceOutput extends ValidateOutput {
  /** Prefix of each message: `svc routes`. */
  readonly program: string
}

const TIMEOUT_MS = 30_000

/** The response of the gateway, or why there is none, as one line. */
export type Asked<T> = { readonly value: T } | { readonly fault: string }

/** @example askGateway('http://127.0.0.1:18081', settings, (client) => client.explain(request)) */
export const askGateway = async <T>(
  url: string,
  settings: ManagementSettings,
  ask: (client: ManagementClient) => Promise<ManagementResponse<T>>,
): Promise<Asked<T>> => {
  // Files alone need no HTTP client, which takes longer to load than they to be read.
  const [{ createManagementClient }, { createCredentialReader }] = await Promise.all([
    import('../fleet/management-client.ts'),
    import('../fleet/client/credentials.ts'),
  ])
  const client = createManagementClient(
    { name: url, url, labels: {} },
    { credentials: createCredentialReader(credentialFiles(settings)), timeoutMs: TIMEOUT_MS },
  )
  try {
    const response = await ask(client)
    return response.result === 'ok'
      ? { value: response.value }
      : { fault: `${url}: ${describeResponse(response)}` }
  } finally {
    await client.close()
  }
}
