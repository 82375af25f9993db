// Creates the tracer of one serving process from the settings; without `--otlp` no module of it is loaded.

import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { getCACertificates } from 'node:tls'
import { createExportFailures } from '../../telemetry/export-failures.ts'
import type { Log } from '../../telemetry/log.ts'
import type { Tracer } from '../../telemetry/tracer.ts'
import { readVersion } from '../../telemetry/version.ts'
import type { GatewaySettings } from '../config.ts'
import { createRequestSpans, type RequestSpans } from '../request-spans.ts'
import { readExtraCa } from './serving-upstream.ts'
import { StartError } from '../start-error.ts'
import { messageOf } from '../../base/thrown.ts'
import { parseOtlpHeaders } from '../settings/trace-settings.ts'

export interface Traces {
  readonly tracer: Tracer
  readonly spans: RequestSpans
}

type TraceSettings = Pick<
  GatewaySettings,
  'otlp' | 'otlpHeadersFile' | 'traceShare' | 'nodeName' | 'upstreamCa'
>

/** @throws StartError for a file of headers, or of certificates, that cannot be used */
export const openTraces = async (
  settings: TraceSettings,
  log: Log,
): Promise<Traces | undefined> => {
  const { otlp, otlpHeadersFile, traceShare, nodeName } = settings
  if (otlp === null) return undefined
  const headers = (): Readonly<Record<string, string>> =>
    otlpHeadersFile === null ? {} : readHeaders(otlpHeadersFile)
  headers()
  const extraCa = readExtraCa(settings)
  const { createOtlpTracer } = await import('../../telemetry/otlp-tracer.ts')
  const tracer = createOtlpTracer({
    url: otlp,
    headers,
    ...(extraCa.length > 0 && { ca: [...getCACertificates(), ...extraCa] }),
    share: traceShare,
    resource: {
      'service.name': 'svc-gateway',
      'service.version': readVersion(),
      'service.instance.id': nodeName ?? hostname(),
      'process.pid': process.pid,
    },
    onLost: createExportFailures(log, () => performance.now()),
  })
  return { tracer, spans: createRequestSpans() }
}

/** No message repeats a line of the file: they are credentials. */
const readHeaders = (path: string): Readonly<Record<string, string>> => {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    throw new StartError(
      `--otlp-headers-file ${path}: cannot read the file: ${messageOf(cause)}`,
      cause,
    )
  }
  const headers = parseOtlpHeaders(text)
  if (typeof headers !== 'number') return headers
  throw new StartError(
    `--otlp-headers-file ${path}: line ${headers} must have the form 'Name: value'`,
  )
}
