// Makes text safe to be written to a terminal: what a terminal would obey, or what hides what is said, is shown as an
// escape. Texts of files, servers and clusters are hostile.

/**
 * Control characters but line feed and tab, and format characters: marks of direction, of no width, tags. Separators of
 * lines that editors break at, and halves of surrogate pairs.
 */
const UNPRINTABLE = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu

/** The colours of our own lines (ECMA-48, SGR). */
// eslint-disable-next-line no-control-regex -- it begins with one
const COLOUR = /\u001B\[(?:0|1;31|33|36)m/g

/**
 * The escapes are those of JSON, and of YAML in double quotes, so that both stay what they are.
 * @example printable('a\u001B[2J') // 'a\\u001b[2J'
 */
export const printable = (text: string): string => text.replace(UNPRINTABLE, escaped)

/** As `printable`, but leaves colours. */
export const printableInColour = (text: string): string => {
  const colours = text.match(COLOUR) ?? []
  return text
    .split(COLOUR)
    .map((part, at) => printable(part) + (colours[at] ?? ''))
    .join('')
}

/**
 * As `printable`, for a text that stands within a line: line feeds could begin a line that someone else seems to have
 * written.
 */
export const printableLine = (text: string): string => printable(text.replace(/\n/g, ' '))

/**
 * A message of one line, with its line feed at the end: one within it is of a file or a server.
 * @example printableMessage("no realm 'a\nb'\n") // "no realm 'a b'\n"
 */
export const printableMessage = (text: string): string =>
  `${printableLine(text.endsWith('\n') ? text.slice(0, -1) : text)}\n`

const escaped = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('')
