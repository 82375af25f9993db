// Writes docs/settings.md anew; a test compares it with the settings tables.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { renderSettingsPage } from './settings-page.ts'

writeFileSync(join(import.meta.dirname, '../../docs/settings.md'), renderSettingsPage())
