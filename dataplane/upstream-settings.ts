// The settings of where requests may be forwarded to. Data only.

import type { SettingsTable } from '../telemetry/settings-table.ts'
import { isDestination, isPort } from './config-values.ts'

export const UPSTREAM_SETTINGS = {
  'upstream-allow': {
    type: 'list',
    default: [],
    placeholder: 'RULE,…',
    accept: isDestination,
    expected: 'CIDRs, host names or *.suffix patterns, comma-separated',
    help: 'all that forward may reach; left out, everything that is not denied',
  },
  'upstream-deny': {
    type: 'list',
    default: [],
    placeholder: 'RULE,…',
    accept: isDestination,
    expected: 'CIDRs, host names or *.suffix patterns, comma-separated',
    help: 'what forward may never reach, checked after name resolution; link-local and metadata addresses unless --upstream-allow names them, and our own listeners, always are',
  },
  'upstream-local-ports': {
    type: 'list',
    default: [],
    placeholder: 'PORT,…',
    accept: isPort,
    expected: 'ports from 1 to 65535, comma-separated',
    help: "of this machine's own addresses, loopback too, all that forward may reach: the application beside the gateway; left out, any but our own listeners",
  },
  'upstream-ca': {
    type: 'path',
    default: null,
    help: 'more CAs for https upstreams, PEM',
  },
} as const satisfies SettingsTable['settings']
