// Writes a request as a case declares it, as bytes and pauses. Nothing is repaired: what a case says stands on the wire
// as it says it.

import type { Part } from '../../support/raw-client.ts'
import type { HeaderPairs, Parts, PartSpec, RequestSpec } from './case-file.ts'
import { grow } from './documents.ts'
import { spacedJson } from './json.ts'
import { encodeMsgpack } from './msgpack.ts'

export const requestBytes = (request: RequestSpec, defaultHost: string): readonly Part[] => {
  const own = headerPairs(request)
  const has = (name: string): boolean => own.some(([n]) => n.toLowerCase() === name)
  const { parts, type } = bodyOf(request)
  const headers: [string, string][] = has('host') ? [] : [['Host', defaultHost]]
  headers.push(...own.map(([name, value]): [string, string] => [name, textOf(value)]))
  if (type !== undefined && !has('content-type')) headers.push(['content-type', type])
  headers.push(...credentials(request))
  if (request.chunked === true) headers.push(['transfer-encoding', 'chunked'])
  else if (parts !== undefined && !has('content-length')) {
    headers.push(['content-length', String(byteCount(parts))])
  }
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const head = `${request.method ?? 'GET'} ${textOf(request.path)} HTTP/1.1\r\n${lines}\r\n`
  return [Buffer.from(head), ...(request.chunked === true ? chunked(parts ?? []) : (parts ?? []))]
}

/** A body or raw bytes as they go out, in order. */
export const partsOf = (spec: Parts): readonly Part[] =>
  (Array.isArray(spec) ? (spec as readonly PartSpec[]) : [spec as PartSpec]).map(partOf)

const partOf = (spec: PartSpec): Part => {
  if (typeof spec === 'string') return Buffer.from(spec)
  if ('pause_ms' in spec) return { pauseMs: spec.pause_ms }
  const bytes = 'hex' in spec ? Buffer.from(spec.hex, 'hex') : Buffer.from(spec.text)
  return Buffer.alloc(bytes.length * (spec.times ?? 1), bytes)
}

const bytesIn = (parts: readonly Part[]): Uint8Array[] =>
  parts.filter((part) => part instanceof Uint8Array)

const byteCount = (parts: readonly Part[]): number =>
  bytesIn(parts).reduce((sum, bytes) => sum + bytes.length, 0)

const textOf = (spec: Parts): string =>
  typeof spec === 'string' ? spec : Buffer.concat(bytesIn(partsOf(spec))).toString()

const headerPairs = ({ headers = {} }: RequestSpec): HeaderPairs =>
  Array.isArray(headers)
    ? (headers as HeaderPairs)
    : Object.entries(headers as Record<string, Parts>)

interface Body {
  readonly parts?: readonly Part[]
  readonly type?: string
}

const bodyOf = (request: RequestSpec): Body => {
  if (request.json !== undefined) {
    return { parts: [Buffer.from(spacedJson(grow(request.json)))], type: 'application/json' }
  }
  if (request.form !== undefined) {
    return {
      parts: [Buffer.from(formText(request.form))],
      type: 'application/x-www-form-urlencoded',
    }
  }
  if (request.msgpack !== undefined) {
    return { parts: [encodeMsgpack(grow(request.msgpack))], type: 'application/msgpack' }
  }
  return request.body === undefined ? {} : { parts: partsOf(request.body) }
}

const formText = (form: NonNullable<RequestSpec['form']>): string => {
  const params = new URLSearchParams()
  const pairs = Array.isArray(form)
    ? (form as readonly (readonly [string, string])[])
    : Object.entries(form as Readonly<Record<string, string>>)
  for (const [name, value] of pairs) params.append(name, value)
  return params.toString()
}

const credentials = ({ basic, bearer }: RequestSpec): [string, string][] => {
  const pairs: [string, string][] = []
  if (basic !== undefined) {
    pairs.push([
      'authorization',
      `Basic ${Buffer.from(basic.map(textOf).join(':')).toString('base64')}`,
    ])
  }
  if (bearer !== undefined) pairs.push(['authorization', `Bearer ${bearer}`])
  return pairs
}

const chunked = (parts: readonly Part[]): readonly Part[] => [
  ...parts.flatMap((part): Part[] => (part instanceof Uint8Array ? chunksOf(part) : [part])),
  Buffer.from('0\r\n\r\n'),
]

/** One chunk; none for no bytes, which would end the body. */
const chunksOf = (bytes: Uint8Array): Buffer[] =>
  bytes.length === 0
    ? []
    : [Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])]
