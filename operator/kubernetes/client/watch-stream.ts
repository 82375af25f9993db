// Reads the events of a watch from its body (one JSON object a line). A line that can't be read ends it with an
// ApiError, because an event that is lost silently would be lost for ever.

import { parseJson } from '../../../base/parse-json.ts'
import { mapAt, memberAt, numberAt, textAt } from '../../../language/expression/members.ts'
import { isMap } from '../../../language/expression/value.ts'
import type { ResourceType, WatchEvent } from './api.ts'
import { errorFromResponse, unreadable } from './api-error.ts'
import { createLineReader } from './lines.ts'

/** etcd rejects objects of more than 1.5 MiB; JSON may make them somewhat larger. */
const MAX_LINE_BYTES = 8 * 1024 * 1024

/** @throws ApiError, and what `body` throws */
export async function* readWatchEvents(
  type: ResourceType,
  body: AsyncIterable<Uint8Array>,
  maxLineBytes = MAX_LINE_BYTES,
): AsyncGenerator<WatchEvent, void, undefined> {
  const reader = createLineReader(maxLineBytes)
  for await (const piece of body) {
    for (const line of linesOf(type, () => reader.push(piece))) yield eventOf(type, line)
  }
  if (reader.hasRest) throw unreadable(type, 'it ended within a line')
}

const linesOf = (type: ResourceType, read: () => readonly string[]): readonly string[] => {
  try {
    return read()
  } catch (error) {
    throw unreadable(type, error instanceof RangeError ? error.message : 'a line is not UTF-8')
  }
}

const eventOf = (type: ResourceType, line: string): WatchEvent => {
  const event = parse(line)
  if (!isMap(event)) throw unreadable(type, 'a line of the watch is not a JSON object')
  const kind = textAt(event, 'type')
  const object = memberAt(event, 'object')
  if (!isMap(object)) throw unreadable(type, 'an event of the watch has no object')
  if (kind === 'ERROR') {
    const status = numberAt(object, 'code') ?? 500
    throw errorFromResponse({ type, status, retryAfter: undefined, body: object })
  }
  const version = textAt(mapAt(object, 'metadata'), 'resourceVersion')
  if (version === '') throw unreadable(type, 'an object of the watch has no resourceVersion')
  if (kind === 'BOOKMARK') return { type: 'BOOKMARK', resourceVersion: version }
  if (!isChange(kind)) throw unreadable(type, 'an event of the watch is of an unknown type')
  return { type: kind, object }
}

const isChange = (kind: string): kind is 'ADDED' | 'MODIFIED' | 'DELETED' =>
  kind === 'ADDED' || kind === 'MODIFIED' || kind === 'DELETED'

/** Without the message of JSON.parse, which quotes its input. */
const parse = (line: string): unknown => {
  try {
    return parseJson(line)
  } catch {
    return undefined
  }
}
