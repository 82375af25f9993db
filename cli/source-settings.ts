// Lists the settings of commands that read routes from files or from a gateway. Data only.

import { MANAGEMENT_SETTINGS } from '../operator/management-settings.ts'
import { DEFAULT_CLASS } from '../operator/resource/resource.ts'
import type { SettingsTable } from '../telemetry/settings-table.ts'

export const MAX_ROUTES_SETTING = {
  'max-routes': {
    type: 'integer',
    default: 20_000,
    min: 1,
    max: 1_000_000,
    help: 'routes that a document may have, as the gateways are set',
  },
} as const satisfies SettingsTable['settings']

export const CLASS_SETTING = {
  class: {
    type: 'string',
    default: DEFAULT_CLASS,
    placeholder: 'NAME',
    help: 'gatewayClassName of the resources that are read',
  },
} as const satisfies SettingsTable['settings']

export const SOURCE_SETTINGS = {
  ...CLASS_SETTING,
  ...MAX_ROUTES_SETTING,
  ...MANAGEMENT_SETTINGS,
} as const satisfies SettingsTable['settings']

export const JSON_SETTING = {
  json: { type: 'boolean', default: false, help: 'print the result as JSON' },
} as const satisfies SettingsTable['settings']
