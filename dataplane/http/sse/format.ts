// Formats server-sent events as text (WHATWG HTML §9.2.6). Nothing in a field can end its line, so that no data
// becomes an event of its own.

export interface EventFields {
  readonly name?: string
  readonly id?: string
  /** Any line ends: each line becomes a `data` line, and the client joins them with LF. */
  readonly data: string
}

/**
 * Formats one event with its blank line. Empty data gives an empty `data` line: the client dispatches the event with
 * `""` as data; without the line it would drop the event.
 * @example formatEvent({ name: 'tick', data: 'a\nb' }) // 'event: tick\ndata: a\ndata: b\n\n'
 */
export const formatEvent = ({ name, id, data }: EventFields): string =>
  `${field('event', name)}${field('id', id)}${dataLines(data)}\n`

/** Formats a comment, which clients ignore: for proxies and people, and to keep a connection open. */
export const formatComment = (text: string): string => {
  const line = oneLine(text)
  return line === '' ? ':\n\n' : `: ${line}\n\n`
}

const field = (name: 'event' | 'id', value: string | undefined): string => {
  const line = value === undefined ? '' : oneLine(value)
  return line === '' ? '' : `${name}: ${line}\n`
}

/** Control characters are left out, line ends and the NUL that voids an id among them. */
const oneLine = (text: string): string => text.replaceAll(CONTROLS, '')

const CONTROLS = /\p{Cc}/gu

const dataLines = (data: string): string => {
  if (data === '') return 'data:\n'
  // JSON text has no line ends: it is searched for them, but not split.
  if (!LINE_END.test(data)) return `data: ${data}\n`
  return data
    .split(LINE_END)
    .map((line) => `data: ${line}\n`)
    .join('')
}

/** WHATWG HTML §9.2.6: CRLF, LF or CR. */
const LINE_END = /\r\n|\n|\r/
