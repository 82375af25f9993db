// Reads HTTP/1 requests as RFC 9112 has them and no other way: what a gateway forwards must have been framed so by
// its client, and must be framed so towards its upstream.

export interface StrictRequest {
  readonly method: string
  readonly target: string
  /** Names in lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Buffer
}

export interface StrictReading {
  /** Those that are whole. */
  readonly requests: readonly StrictRequest[]
  /**
   * `between`: after the last byte of a request, or before the first. `closing`: the last request ends the
   * connection, what follows belongs to no request. `invalid`: nothing after the last request can be a request.
   */
  readonly end: 'between' | 'incomplete' | 'closing' | 'invalid'
  /** Where the last whole request ends. */
  readonly readBytes: number
  /** Of `invalid`. */
  readonly why: string
}

/**
 * @param maxHeaderLines of each request; one with more is invalid
 * @example readRequests(Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n')).end // 'between'
 */
export const readRequests = (bytes: Buffer, maxHeaderLines = Infinity): StrictReading => {
  const requests: StrictRequest[] = []
  const cursor = { bytes, at: 0, maxHeaderLines }
  let readBytes = 0
  const ended = (end: StrictReading['end'], why = ''): StrictReading => ({
    requests,
    end,
    readBytes,
    why,
  })
  try {
    for (;;) {
      skipLineEnds(cursor)
      if (cursor.at === bytes.length) return ended('between')
      const request = readRequest(cursor)
      readBytes = cursor.at
      requests.push(request.request)
      if (request.isLast) return ended('closing')
    }
  } catch (error) {
    if (error === INCOMPLETE) return ended('incomplete')
    if (error instanceof InvalidRequest) return ended('invalid', error.message)
    throw error
  }
}

/** The values of a header, in order. */
export const valuesOf = ({ headers }: StrictRequest, name: string): readonly string[] =>
  headers.filter(([each]) => each === name).map(([, value]) => value)

interface Cursor {
  readonly bytes: Buffer
  at: number
  readonly maxHeaderLines: number
}

class InvalidRequest extends Error {}

const INCOMPLETE = new Error('incomplete')

/** RFC 9112 §2.2: in front of a request. */
const skipLineEnds = (cursor: Cursor): void => {
  while (cursor.bytes[cursor.at] === 0x0d || cursor.bytes[cursor.at] === 0x0a) cursor.at++
}

/** RFC 9112 §3 lets several blanks be one. */
const REQUEST_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) +([\x21-\x7e\x80-\xff]+) +HTTP\/1\.([01])$/

const readRequest = (
  cursor: Cursor,
): { readonly request: StrictRequest; readonly isLast: boolean } => {
  const line = readLine(cursor)
  const match = REQUEST_LINE.exec(line)
  if (match === null) throw new InvalidRequest('request line')
  const [, method = '', target = '', minor] = match
  const headers = readHeaders(cursor)
  if (headers.length > cursor.maxHeaderLines) throw new InvalidRequest('too many header lines')
  const all = (name: string): readonly string[] =>
    headers.filter(([each]) => each === name).map(([, value]) => value)
  const options = all('connection').flatMap(listOf)
  const isPersistent = minor === '1' || options.includes('keep-alive')
  const isLast = method === 'CONNECT' || options.includes('close') || !isPersistent
  // RFC 9110 §9.3.6: what follows is the tunnel's.
  const body = method === 'CONNECT' ? Buffer.alloc(0) : readBody(cursor, all)
  return { request: { method, target, headers, body }, isLast }
}

const listOf = (value: string): readonly string[] =>
  value.split(',').map((each) => each.trim().toLowerCase())

const readLine = (cursor: Cursor): string => {
  const { bytes, at } = cursor
  const end = bytes.indexOf('\r\n', at, 'latin1')
  const line = bytes.toString('latin1', at, end < 0 ? bytes.length : end)
  if (/[\n\0]|\r[^]/.test(line)) throw new InvalidRequest('a bare CR, LF or NUL')
  if (end < 0) throw INCOMPLETE
  cursor.at = end + 2
  return line
}

const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*)$/

const readHeaders = (cursor: Cursor): (readonly [string, string])[] => {
  const headers: (readonly [string, string])[] = []
  for (let line = readLine(cursor); line !== ''; line = readLine(cursor)) {
    const match = HEADER.exec(line)
    if (match === null) throw new InvalidRequest('header line')
    headers.push([(match[1] ?? '').toLowerCase(), (match[2] ?? '').replace(/[ \t]+$/, '')])
  }
  return headers
}

/** RFC 9112 §6.3. */
const readBody = (cursor: Cursor, all: (name: string) => readonly string[]): Buffer => {
  const codings = all('transfer-encoding').flatMap(listOf)
  const lengths = all('content-length')
  if (all('transfer-encoding').length > 0) {
    if (lengths.length > 0) throw new InvalidRequest('both Transfer-Encoding and Content-Length')
    if (codings.indexOf('chunked') !== codings.length - 1)
      throw new InvalidRequest('a Transfer-Encoding that does not end in chunked')
    return readChunks(cursor)
  }
  const [length] = lengths
  if (length === undefined) return Buffer.alloc(0)
  if (lengths.length > 1 || !/^\d{1,15}$/.test(length)) throw new InvalidRequest('Content-Length')
  return take(cursor, Number(length))
}

const readChunks = (cursor: Cursor): Buffer => {
  const chunks: Buffer[] = []
  for (;;) {
    const match = /^([0-9A-Fa-f]{1,12})(?:[ \t]*;[\t\x20-\x7e\x80-\xff]*)?$/.exec(readLine(cursor))
    if (match === null) throw new InvalidRequest('chunk size')
    const size = parseInt(match[1] ?? '', 16)
    if (size === 0) break
    chunks.push(take(cursor, size))
    if (take(cursor, 2).toString('latin1') !== '\r\n') throw new InvalidRequest('end of a chunk')
  }
  readHeaders(cursor)
  return Buffer.concat(chunks)
}

const take = (cursor: Cursor, count: number): Buffer => {
  const { bytes, at } = cursor
  if (count > bytes.length - at) throw INCOMPLETE
  cursor.at = at + count
  return bytes.subarray(at, cursor.at)
}
