// Builds and reads JSON pointers (RFC 6901).

/**
 * The pointer of a child.
 * @example childPointer('/versions/v1/paths', '/a~b') // '/versions/v1/paths/~1a~0b'
 */
export const childPointer = (parent: string, key: string | number): string =>
  `${parent}/${escapeToken(String(key))}`

const escapeToken = (token: string): string =>
  token.includes('~') || token.includes('/')
    ? token.replaceAll('~', '~0').replaceAll('/', '~1')
    : token

/**
 * The keys that a pointer leads through, as they stand in the value.
 * @example pointerKeys('/versions/v1/paths/~1a~0b') // ['versions', 'v1', 'paths', '/a~b']
 */
export const pointerKeys = (pointer: string): string[] =>
  pointer.split('/').slice(1).map(unescapeToken)

const unescapeToken = (token: string): string =>
  token.includes('~') ? token.replaceAll('~1', '/').replaceAll('~0', '~') : token
