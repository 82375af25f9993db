// Encodes and decodes WAMP messages as JSON text. Bytes follow WAMP's convention for JSON, a text of U+0000 and base64
// (WAMP protocol, *Binary conversion of JSON Strings*). Its errors never quote a message.

import { parseJson } from '../../../../base/parse-json.ts'
import { isUtf8 } from 'node:buffer'
import { holdsInfinity } from '../../../../base/json-infinity.ts'
import { isList, setOwn, type Value, type ValueMap } from '../../../../language/expression/value.ts'
import { DecodeError } from '../../../decode-error.ts'
import { countJson, HARMLESS_JSON_BYTES, ValueMeter } from '../../../memory/value-meter.ts'
import { MessageError } from '../../protocol/message-error.ts'
import type { WampMessage } from '../../protocol/messages.ts'
import { readJsonHead } from './json-head.ts'
import { portable } from './portable.ts'
import { asMessage, MAX_DEPTH, unreadable, type Serializer } from './serializer.ts'

export const json: Serializer = {
  name: 'json',
  isText: true,
  rawSocketId: 1,

  encode(message) {
    const carried = portable(message, leaf)
    try {
      return JSON.stringify(carried)
    } catch (cause) {
      throw new MessageError('unencodable', 'the message is too large for a JSON text', { cause })
    }
  },

  decode(bytes) {
    const text = bytes.toString()
    // A replacement character may also stand there in its own right.
    if (text.includes('\uFFFD') && !isUtf8(bytes))
      throw new MessageError('undecodable', 'a message is no UTF-8')
    let message: Value
    try {
      if (bytes.length > HARMLESS_JSON_BYTES) countValues(bytes, text)
      message = parseJson(text) as Value
    } catch (cause) {
      const why = cause instanceof DecodeError ? cause.message : 'a message is no JSON'
      throw unreadable(readable(readJsonHead(bytes), text), why)
    }
    if (isDeep(message, text))
      throw unreadable(readable(message, text), 'a message is nested too deeply')
    if (holdsInfinity(text, message))
      throw unreadable(finite(message, text), 'a message has a number that is too large')
    return asMessage(withBytes(message, text))
  },
}

const leaf = (value: Uint8Array | number | string): unknown => {
  if (typeof value === 'string')
    throw new MessageError(
      'unencodable',
      'in JSON, a text that begins with U+0000 would become bytes',
    )
  if (typeof value !== 'number') {
    const { buffer, byteOffset, byteLength } = value
    return `\0${Buffer.from(buffer, byteOffset, byteLength).toString('base64')}`
  }
  if (!Number.isFinite(value)) throw new MessageError('unencodable', `JSON can't carry ${value}`)
  return value
}

/** Walks only values whose text is long enough to be nested too deeply. */
const isDeep = (value: Value, text: string): boolean =>
  text.length > 2 * MAX_DEPTH && isDeeper(value, MAX_DEPTH)

const isDeeper = (value: Value, left: number): boolean => {
  if (typeof value !== 'object' || value === null) return false
  if (left === 0) return true
  if (isList(value)) return value.some((item) => isDeeper(item, left - 1))
  const map = value as ValueMap
  for (const key in map) {
    const child = map[key] as Value
    if (typeof child === 'object' && isDeeper(child, left - 1)) return true
  }
  return false
}

/** Returns the elements before the first one that is nested too deeply. */
const readable = (message: Value, text: string): WampMessage => {
  if (!isList(message)) return []
  const end = message.findIndex((element) => isDeeper(element, MAX_DEPTH - 1))
  const head = end < 0 ? message : message.slice(0, end)
  return withBytes(head, text) as WampMessage
}

/** Returns the elements before the first one with a number that is too large. */
const finite = (message: Value, text: string): WampMessage => {
  if (!isList(message)) return []
  const end = message.findIndex((element) => holdsInfinity(text, element))
  return withBytes(message.slice(0, end), text) as WampMessage
}

/** @throws DecodeError */
const countValues = (bytes: Buffer, text: string): void => {
  const meter = new ValueMeter()
  countJson(bytes, meter)
  // Each may be an array of bytes, which costs as much as a list.
  for (let at = text.indexOf(NUL); at >= 0; at = text.indexOf(NUL, at + NUL.length))
    meter.count(1, 0)
}

const NUL = '\\u0000'

/** A text of U+0000 can only come from this escape. */
const withBytes = (value: Value, text: string): Value =>
  text.includes(NUL) ? restoreBytes(value) : value

/** In place: the value comes from the parser, and nothing else references it. */
const restoreBytes = (value: Value): Value => {
  if (typeof value === 'string') return bytesOf(value) ?? value
  if (typeof value !== 'object' || value === null) return value
  const children = value as Record<string, Value>
  for (const key of Object.keys(children))
    setOwn(children, key, restoreBytes(children[key] as Value))
  return value
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

const bytesOf = (text: string): Uint8Array | undefined => {
  if (text.charCodeAt(0) !== 0 || text.length % 4 !== 1) return undefined
  const base64 = text.slice(1)
  return BASE64.test(base64) ? new Uint8Array(Buffer.from(base64, 'base64')) : undefined
}
