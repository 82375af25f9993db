// Declares the settings of traces and parses their values. It does no I/O.

import { isHeaderName, isHeaderValue } from '../../language/compile/headers.ts'
import type { ReasonedSettings } from '../../telemetry/settings-table.ts'

/** The path of traces below the URL of an OTLP collector (OTLP 1.x, *OTLP/HTTP request*). */
const TRACES_PATH = '/v1/traces'

/** The whole URL; undefined for a text that is no URL, or has credentials, which process lists would show. */
const parseOtlpUrl = (text: string): string | undefined => {
  const url = URL.parse(text)
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return undefined
  if (/[?#@\\\s]/.test(text)) return undefined
  const base = url.href.replace(/\/+$/, '')
  return base.endsWith(TRACES_PATH) ? base : `${base}${TRACES_PATH}`
}

/**
 * `Name: value`, one a line; empty lines and those that begin with `#` are ignored.
 * @returns the number of the first line that is wrong
 */
export const parseOtlpHeaders = (text: string): Readonly<Record<string, string>> | number => {
  const headers = new Map<string, string>()
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase()
    const value = line.slice(colon + 1).trim()
    if (!isHeaderName(name) || !isHeaderValue(value)) return index + 1
    headers.set(name, value)
  }
  return Object.fromEntries(headers)
}

export const TRACE_SETTINGS = {
  otlp: {
    type: 'custom',
    default: null,
    placeholder: 'URL',
    // A value may be invalid because of the password in it.
    isSecret: true,
    parse: parseOtlpUrl,
    expected:
      'an http or https URL such as http://collector:4318, without credentials (--otlp-headers-file) and query',
    help: 'OpenTelemetry collector that receives traces, OTLP over HTTP; /v1/traces is appended',
    reason: 'those who have a collector of traces',
  },
  'otlp-headers-file': {
    type: 'path',
    default: null,
    needs: ['otlp'],
    help: 'file with headers for the collector, such as credentials, one `Name: value` a line; read again before each export',
    reason: 'collectors that want credentials',
  },
  'trace-share': {
    type: 'number',
    default: 1,
    max: 1,
    needs: ['otlp'],
    help: 'share of requests that are traced, from 0 to 1; the decision of a trusted proxy takes precedence',
    reason: 'traffic of which each trace would cost too much',
  },
} as const satisfies ReasonedSettings
