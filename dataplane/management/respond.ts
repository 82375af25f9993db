// Writes the responses of the management API: values and error records. Error records are bounded in size and contain
// nothing but what the error says.

import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setImmediate } from 'node:timers/promises'
import type { Problem, Warning } from '../../language/problem.ts'
import type { ErrorRecord } from '../../language/wire/wire.ts'
import type { ManagementError } from './management-error.ts'

const JSON_TYPE = 'application/json; charset=utf-8'

export const sendJson = (res: ServerResponse, status: number, value: unknown): void => {
  sendText(res, status, JSON.stringify(value))
}

/** `text` is JSON already. */
export const sendText = (res: ServerResponse, status: number, text: string | Buffer): void => {
  res.statusCode = status
  res.setHeader('content-type', JSON_TYPE)
  res.setHeader('content-length', Buffer.byteLength(text))
  res.end(text)
}

/**
 * Sends a text piece by piece as the client reads it; requests are served in between. Ends early, without an error, if the
 * client disconnects.
 */
export const sendPieces = async (res: ServerResponse, pieces: Iterable<string>): Promise<void> => {
  const source = Readable.from(inTurns(pieces), { highWaterMark: 1 })
  await pipeline(source, res).catch(() => undefined)
}

async function* inTurns(pieces: Iterable<string>): AsyncGenerator<string> {
  for (const piece of pieces) {
    yield piece
    await setImmediate()
  }
}

export const sendNothing = (res: ServerResponse): void => {
  res.statusCode = 204
  res.end()
}

export const sendError = (res: ServerResponse, error: ManagementError): void => {
  for (const [name, value] of Object.entries(error.details.headers ?? {}))
    res.setHeader(name, value)
  sendJson(res, error.status, recordOf(error))
}

const MAX_TEXT = 1024
const MAX_PROBLEMS = 200

const recordOf = ({ code, message, details }: ManagementError): ErrorRecord => {
  const { errors, warnings = [], description = '', extra } = details
  const record = { code, message: cut(message), description: cut(description), ...extra }
  if (errors === undefined) return record
  const more = errors.length - MAX_PROBLEMS
  return {
    ...record,
    description:
      more > 0
        ? `${record.description} ${more} more problems are not listed.`.trim()
        : record.description,
    errors: boundDiagnostics(errors, MAX_PROBLEMS),
    ...(warnings.length > 0 && { warnings: boundDiagnostics(warnings, MAX_PROBLEMS) }),
  }
}

/** Returns the first `max` entries with long texts cut, so that a response never grows with what was sent. */
export const boundDiagnostics = <T extends Problem | Warning>(
  diagnostics: readonly T[],
  max: number,
): readonly T[] =>
  diagnostics.slice(0, max).map((diagnostic) => ({
    ...diagnostic,
    path: cut(diagnostic.path),
    message: cut(diagnostic.message),
  }))

const cut = (text: string): string =>
  text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT).toWellFormed()}…`
