// Declares the settings of what one request may cost. Data only.

import type { SettingsTable } from '../../telemetry/settings-table.ts'

export const REQUEST_LIMIT_SETTINGS = {
  'max-header-bytes': {
    type: 'integer',
    default: 16_384,
    min: 1024,
    max: 1_048_576,
    help: 'request line and headers together; beyond it 431',
  },
  'new-limits': {
    type: 'enum',
    values: ['enforce', 'report'],
    default: 'enforce',
    help: 'what exceeds a limit that is new in this version is refused, or let through and reported in the log and as svc_gateway_limits_exceeded_total',
  },
  'max-body-values': {
    type: 'integer',
    default: 1_000_000,
    min: 1000,
    help: 'values that a JSON, MessagePack or form body may decode to, keys of maps among them; beyond it 413',
  },
  'max-body-containers': {
    type: 'integer',
    default: 100_000,
    min: 100,
    help: 'lists and maps that a JSON or MessagePack body may decode to; beyond it 413',
  },
} as const satisfies SettingsTable['settings']
