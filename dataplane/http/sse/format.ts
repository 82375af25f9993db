// Server-sent events as text (WHATWG HTML §9.2.6): fields in, the lines of one event out. Nothing that
// stands in a field can end its line, so that nobody's data becomes an event of its own.

export interface EventFields {
  readonly name?: string
  readonly id?: string
  /** Any line ends: each line becomes a `data` line, and the client joins them with LF. */
  readonly data: string
}

/**
 * One event with its blank line. Empty data gives an empty `data` line: the client dispatches the event with
 * `""` as data, where without the line it would drop the event.
 * @example formatEvent({ name: 'tick', data: 'a\nb' }) // 'event: tick\ndata: a\ndata: b\n\n'
 */
export const formatEvent = ({ name, id, data }: EventFields): string =>
  `${field('event', name)}${field('id', id)}${dataLines(data)}\n`

/** A comment, which clients pass over: for what is between us, and to keep a line open. */
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
  // JSON text has no line ends: it is looked through, but not split.
  if (!LINE_END.test(data)) return `data: ${data}\n`
  return data
    .split(LINE_END)
    .map((line) => `data: ${line}\n`)
    .join('')
}

/** WHATWG HTML §9.2.6: CRLF, LF or CR. */
const LINE_END = /\r\n|\n|\r/
