// Reads from the settings which files hold the credentials for data planes.

import type { CredentialFiles } from './fleet/client/credentials.ts'
import type { ManagementSettings } from './management-settings.ts'

export const credentialFiles = (settings: ManagementSettings): CredentialFiles => ({
  ...(settings.managementTokenFile !== null && { tokenFile: settings.managementTokenFile }),
  ...(settings.managementCa !== null && { caFile: settings.managementCa }),
  ...(settings.managementCert !== null && { certFile: settings.managementCert }),
  ...(settings.managementKey !== null && { keyFile: settings.managementKey }),
  ...(settings.managementServerName !== null && { serverName: settings.managementServerName }),
})
