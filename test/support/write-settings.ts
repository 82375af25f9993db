// Writes docs/settings.md and what the operator knows of the gateway's flags anew; tests compare them with the settings
// tables.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { GATEWAY_FLAGS_PATH, renderGatewayFlags } from './gateway-flags-file.ts'
import { renderSettingsPage } from './settings-page.ts'

writeFileSync(join(import.meta.dirname, '../../docs/settings.md'), renderSettingsPage())
writeFileSync(GATEWAY_FLAGS_PATH, await renderGatewayFlags())
