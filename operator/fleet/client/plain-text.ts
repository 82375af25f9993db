// Makes text of a data plane safe to be shown: one line, printable, short.

/** Control characters break lines of a terminal or a log; marks of direction and of no width hide what is said. */
const UNPRINTABLE = /[\p{C}\p{Z}]+/gu

/** @example plainText('two\r\nlines', 100) // 'two lines' */
export const plainText = (text: string, maxLength: number): string =>
  text
    // What is cut off in the end need not be looked at.
    .slice(0, 2 * maxLength)
    .replace(UNPRINTABLE, ' ')
    .slice(0, maxLength)
    .replace(LONE_SURROGATE, '')

const LONE_SURROGATE = /[\ud800-\udbff]$/
