// Writes the text of operator/admission/gateway-flags.ts from the settings table of the gateway: the two programs
// import nothing of each other.

import { format, resolveConfig } from 'prettier'
import { SETTINGS } from '../../dataplane/config.ts'
import type { Setting } from '../../telemetry/settings-table.ts'
import { join } from 'node:path'

export const GATEWAY_FLAGS_PATH = join(
  import.meta.dirname,
  '../../operator/admission/gateway-flags.ts',
)

const HEAD = `// Lists the flags of the gateway, for the settings of sidecars. Generated from its settings table by \`make golden\`; do not edit.

import type { SettingsTable } from '../../telemetry/settings-table.ts'

`

export const renderGatewayFlags = async (): Promise<string> => {
  const settings = Object.entries(SETTINGS.settings).map(([name, setting]) => [
    name,
    plain(setting),
  ])
  const table = { program: SETTINGS.program, summary: '', envPrefix: SETTINGS.envPrefix }
  const text = JSON.stringify({ ...table, settings: Object.fromEntries(settings) as unknown })
  return format(`${HEAD}export const GATEWAY_FLAGS: SettingsTable = ${text}`, {
    ...(await resolveConfig(GATEWAY_FLAGS_PATH)),
    parser: 'typescript',
  })
}

/** What is data alone: a text in a form of its own is validated by the gateway. */
const plain = (setting: Setting): object => {
  const shared = sharedOf(setting)
  switch (setting.type) {
    case 'enum':
      return { type: 'enum', values: setting.values, default: setting.default, ...shared }
    case 'integer':
    case 'number':
    case 'duration': {
      const { type, min, max } = setting
      return { type, default: setting.default, min, max, ...shared }
    }
    case 'custom':
      return { type: 'string', default: setting.default, ...shared }
    case 'address':
    case 'boolean':
    case 'list':
    case 'path':
    case 'string':
      return { type: setting.type, default: setting.default, ...shared }
  }
}

const sharedOf = ({ isSecret, needs }: Setting): object => ({
  help: '',
  ...(needs !== undefined && { needs }),
  ...(isSecret === true && { isSecret }),
})
