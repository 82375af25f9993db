// Declares the settings of what one request may cost. It holds data only.

import type { SettingsTable } from '../../telemetry/settings-table.ts'

export const REQUEST_LIMIT_SETTINGS = {
  'max-header-bytes': {
    type: 'integer',
    default: 16_384,
    min: 1024,
    max: 1_048_576,
    help: 'most bytes of the request line and headers together; larger ones get 431',
  },
  'new-limits': {
    type: 'enum',
    values: ['enforce', 'report'],
    default: 'enforce',
    help: 'requests that exceed a limit which is new in this version are rejected, or let through and reported in the log and as svc_gateway_limits_exceeded_total',
  },
  'max-body-values': {
    type: 'integer',
    default: 1_000_000,
    min: 1000,
    help: 'most values that a JSON, MessagePack or form body may decode to, keys of maps included; larger ones get 413',
  },
  'max-body-containers': {
    type: 'integer',
    default: 100_000,
    min: 100,
    help: 'most lists and maps that a JSON or MessagePack body may decode to; larger ones get 413',
  },
} as const satisfies SettingsTable['settings']
