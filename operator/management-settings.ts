// Lists the settings by which operator and gateways authenticate each other. Data only.

import type { ReasonedSettings, Settings, SettingsTable } from '../telemetry/settings-table.ts'

export const MANAGEMENT_SETTINGS = {
  'management-token-file': {
    type: 'path',
    default: null,
    help: 'file with the bearer token for the gateways; re-read on change',
    reason: 'gateways that ask for a token',
  },
  'management-ca': {
    type: 'path',
    default: null,
    help: 'CAs that issued the certificates of the gateways, PEM; re-read on change',
    reason: 'gateways whose certificates no public CA has issued',
  },
  'management-cert': {
    type: 'path',
    default: null,
    needs: ['management-key'],
    help: 'client certificate for the gateways, PEM; re-read on change',
    reason: 'gateways that ask for a client certificate',
  },
  'management-key': {
    type: 'path',
    default: null,
    needs: ['management-cert'],
    help: 'private key of --management-cert, PEM',
    reason: 'as --management-cert',
  },
  'management-server-name': {
    type: 'string',
    default: null,
    placeholder: 'NAME',
    help: "name in the certificates of the gateways; the URL's host if left out",
    reason: 'gateways that are reached by an address which their certificate lacks',
  },
} as const satisfies ReasonedSettings

export type ManagementSettings = Settings<
  Omit<SettingsTable, 'settings'> & { readonly settings: typeof MANAGEMENT_SETTINGS }
>
