// Shortens a path that no document has, so that a person can tell a misspelt client from a scanner, and no id, token or
// address can be read from it (behaviour §8).

const SEGMENTS = 2
const MAX_LENGTH = 64
const LONGEST_WORD = 16

/**
 * The first two segments: those that are one short word of letters, `.`, `_`, `~` and `-` are kept, without digits; all else
 * is `…`. What is encoded, or has other characters, may be an address or a token.
 * @example safePath('/v1/users/42') // '/v…/users/…'
 */
export const safePath = (path: string): string => {
  const segments = path.split('/', SEGMENTS + 2).slice(1)
  const shown = segments.slice(0, SEGMENTS).map(safeSegment)
  const text = `/${shown.join('/')}${segments.length > SEGMENTS ? '/…' : ''}`
  return text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH - 1)}…`
}

const safeSegment = (segment: string): string =>
  segment.length <= LONGEST_WORD && /^[\w~.-]*$/.test(segment)
    ? segment.replaceAll(/\d+/g, '…')
    : '…'
