// Declares the settings of what one request may cost. It holds data only.

import type { ReasonedSettings } from '../../telemetry/settings-table.ts'

export const REQUEST_LIMIT_SETTINGS = {
  'max-header-bytes': {
    type: 'integer',
    default: 16_384,
    min: 1024,
    max: 1_048_576,
    help: 'most bytes of the request line and headers together; larger ones get 431',
    reason: 'clients with large cookies or tokens',
  },
  'max-body-values': {
    type: 'integer',
    default: 1_000_000,
    min: 1000,
    help: 'most values that a JSON, MessagePack or form body may decode to, keys of maps included; a tenth of them may be lists and maps; larger ones get 413',
    reason: 'APIs with very large JSON bodies; lower it where memory is short',
  },
} as const satisfies ReasonedSettings
