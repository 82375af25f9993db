// Writes the head of a response as one string. Node checks and joins it header by header: 1.6 µs of the 11 µs that a
// small response costs, for names and values that were validated when they were created. At the start the result is
// compared with what node would write; if they ever differ, node writes all heads.

import type { ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { http } from '../../../base/node-http.ts'

/** The parts of node's response that decide how a head ends. */
interface Internals {
  _header: string | null
  readonly _keepAliveTimeout: number
  readonly _defaultKeepAlive: boolean
  readonly _maxRequestsPerSocket: number
  readonly maxRequestsOnConnectionReached: boolean
}

/** Node would write the low byte of such a character, which may end a line; `writeHead` refuses it. */
const BEYOND_LATIN1 = /[\u0100-\uffff]/

/** `name: value` lines, each with its end. Names and values must have been checked. */
export const headLines = (list: readonly string[]): string => {
  let text = ''
  for (let index = 0; index + 1 < list.length; index += 2)
    text += `${list[index] ?? ''}: ${list[index + 1] ?? ''}\r\n`
  return text
}

const statusLine = (status: number): string =>
  `HTTP/1.1 ${status} ${http.STATUS_CODES[status] ?? 'unknown'}\r\n`

/**
 * Sets the whole head, as `writeHead` would, if nothing about this response is out of the ordinary. `lines`
 * must contain Content-Length and neither Date nor Connection.
 * @returns false: `writeHead` must be called
 */
export const presetHead = (response: ServerResponse, status: number, lines: string): boolean => {
  if (!PRESETS_HEADS || !isOrdinary(response) || BEYOND_LATIN1.test(lines)) return false
  preset(response, status, lines)
  return true
}

const preset = (response: ServerResponse, status: number, lines: string): void => {
  const internals = response as unknown as Internals
  response.statusCode = status
  const seconds = Math.floor(internals._keepAliveTimeout / 1000)
  internals._header = statusLine(status) + lines + ending(seconds)
}

/** Persistent, with a date, not the last on its connection, and with its head not started. */
const isOrdinary = (response: ServerResponse): boolean => {
  const internals = response as unknown as Internals
  return (
    response.shouldKeepAlive &&
    response.sendDate &&
    internals._header === null &&
    internals._defaultKeepAlive &&
    internals._keepAliveTimeout > 0 &&
    internals._maxRequestsPerSocket <= 0 &&
    !internals.maxRequestsOnConnectionReached
  )
}

/** Date (RFC 9110 §6.6.1) and persistence; created once a second. */
const createEnding = (now: () => number): ((keepAliveSeconds: number) => string) => {
  let madeAt = -1
  let madeFor = -1
  let text = ''
  return (keepAliveSeconds) => {
    const second = Math.floor(now() / 1000)
    if (second !== madeAt || keepAliveSeconds !== madeFor) {
      madeAt = second
      madeFor = keepAliveSeconds
      const date = new Date(second * 1000).toUTCString()
      text = `Date: ${date}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${keepAliveSeconds}\r\n\r\n`
    }
    return text
  }
}

const ending = createEnding(Date.now)

/** Whether node writes the same bytes. */
const probe = (): boolean => {
  const fresh = (): ServerResponse & Internals => {
    const request = new http.IncomingMessage(new Socket())
    Object.assign(request, { method: 'GET', httpVersionMajor: 1, httpVersionMinor: 1 })
    const response = new http.ServerResponse(request) as ServerResponse & Internals
    return Object.assign(response, { _keepAliveTimeout: 5000, _maxRequestsPerSocket: 0 })
  }
  const [byNode, byUs] = [fresh(), fresh()]
  if (!isOrdinary(byUs)) return false
  byNode.writeHead(200, ['x-a', 'b', 'content-length', '0'])
  preset(byUs, 200, headLines(['x-a', 'b', 'content-length', '0']))
  const withoutDate = (head: string | null): string | undefined =>
    head?.replace(/^Date: .*\r\n/m, '')
  return withoutDate(byNode._header) === withoutDate(byUs._header) && byUs.headersSent
}

/** False: node writes all heads. */
export const PRESETS_HEADS = probe()
