// Lists settings that several commands have. Data only.

import { MANAGEMENT_SETTINGS } from '../operator/management-settings.ts'
import { DEFAULT_CLASS } from '../operator/resource/resource-schema.ts'
import type { ReasonedSettings } from '../telemetry/settings-table.ts'

/** The setting of every command whose result has more than one form. */
export const OUTPUT_SETTING = {
  output: {
    type: 'enum',
    values: ['text', 'json'],
    default: 'text',
    short: 'o',
    help: 'how the result is printed',
    reason: 'scripts and editors',
  },
} as const satisfies ReasonedSettings

export const MAX_ROUTES_SETTING = {
  'max-routes': {
    type: 'integer',
    default: 20_000,
    min: 1,
    max: 1_000_000,
    help: 'routes that a document may have, as the gateways are set',
    reason: 'gateways that are set otherwise: the result must be theirs',
  },
} as const satisfies ReasonedSettings

export const CLASS_SETTING = {
  class: {
    type: 'string',
    default: DEFAULT_CLASS,
    placeholder: 'NAME',
    help: 'gatewayClassName of the resources that are read',
    reason: 'manifests for another operator than that of the default class',
  },
} as const satisfies ReasonedSettings

export const SOURCE_SETTINGS = {
  ...CLASS_SETTING,
  ...MAX_ROUTES_SETTING,
  ...MANAGEMENT_SETTINGS,
} as const satisfies ReasonedSettings
