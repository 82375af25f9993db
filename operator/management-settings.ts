// The settings of how the operator shows itself to gateways, and whom it believes. Data only.

import type { SettingsTable } from '../telemetry/settings-table.ts'

export const MANAGEMENT_SETTINGS = {
  'management-token-file': {
    type: 'path',
    default: null,
    help: 'file with the bearer token of the gateways; re-read on change',
  },
  'management-ca': {
    type: 'path',
    default: null,
    help: 'CAs of the certificates of the gateways, PEM; re-read on change',
  },
  'management-cert': {
    type: 'path',
    default: null,
    needs: ['management-key'],
    help: 'client certificate shown to the gateways, PEM; re-read on change',
  },
  'management-key': {
    type: 'path',
    default: null,
    needs: ['management-cert'],
    help: 'private key of --management-cert, PEM',
  },
  'management-server-name': {
    type: 'string',
    default: null,
    placeholder: 'NAME',
    help: "name in the certificates of the gateways; the URL's host if left out",
  },
} as const satisfies SettingsTable['settings']
