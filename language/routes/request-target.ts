// Splits the target of a request (RFC 9112 §3.2) into authority, path and query, exactly as it was sent: nothing is
// decoded or normalised.

export interface Target {
  /** As sent, without the query. */
  readonly path: string
  readonly query: string
}

export interface SentTarget extends Target {
  /** The authority of an absolute-form target. */
  readonly authority: string | undefined
}

/**
 * `no_path`: the target has none (`*`, an authority). `scheme`: it is of another protocol.
 */
export const readTarget = (url: string): SentTarget | 'no_path' | 'scheme' => {
  let rest = url
  let authority: string | undefined
  if (!url.startsWith('/')) {
    const start = url.indexOf('://')
    if (start < 0) return 'no_path'
    if (!/^https?$/i.test(url.slice(0, start))) return 'scheme'
    const slash = url.indexOf('/', start + 3)
    const question = url.indexOf('?', start + 3)
    const end = firstOf(slash, question, url.length)
    authority = url.slice(start + 3, end)
    rest = url.slice(end)
    if (!rest.startsWith('/')) rest = `/${rest}`
  }
  const question = rest.indexOf('?')
  if (question < 0) return { path: rest, query: '', authority }
  return { path: rest.slice(0, question), query: rest.slice(question + 1), authority }
}

const firstOf = (a: number, b: number, otherwise: number): number => {
  if (a < 0) return b < 0 ? otherwise : b
  return b < 0 ? a : Math.min(a, b)
}

/**
 * What follows the first `segments` segments of a path, as it was sent, without a slash in front.
 * @example restOf('/files/a%20b/c/', 1) // 'a%20b/c/'
 */
export const restOf = (path: string, segments: number): string => {
  let at = 0
  for (let passed = 0; passed < segments; passed++) {
    at = path.indexOf('/', at + 1)
    if (at === -1) return ''
  }
  return path.slice(at + 1)
}
