// Reads from the settings which files hold the credentials for data planes.

import type { OperatorSettings } from './config.ts'
import type { CredentialFiles } from './fleet/client/credentials.ts'

export const credentialFiles = (settings: OperatorSettings): CredentialFiles => ({
  ...(settings.managementTokenFile !== null && { tokenFile: settings.managementTokenFile }),
  ...(settings.managementCa !== null && { caFile: settings.managementCa }),
  ...(settings.managementCert !== null && { certFile: settings.managementCert }),
  ...(settings.managementKey !== null && { keyFile: settings.managementKey }),
  ...(settings.managementServerName !== null && { serverName: settings.managementServerName }),
})
