// Reads data of the server that the page is from. The token that a person pastes is kept in memory alone.

/** The token, until the page is closed or a person forgets it. Never stored, never in an address. */
let token = ''

/** @param {string} text */
export const setToken = (text) => {
  token = text.trim()
}

export const hasToken = () => token !== ''

/** The server asks for a token, or for another one. */
export class TokenNeededError extends Error {
  /** @override */
  name = 'TokenNeededError'
}

/**
 * @param {string} path
 * @param {Readonly<Record<string, string | readonly string[] | null | undefined>>} [parameters] a list: one for each
 * @param {AbortSignal} [signal]
 * @returns {Promise<unknown>} the JSON of the response
 * @throws TokenNeededError, and Error in words for a person
 */
export const read = async (path, parameters = {}, signal) => {
  const response = await send(path, queryOf(parameters), signal)
  if (response.status === 401) throw new TokenNeededError('a token is needed')
  const body = await readJson(response)
  if (response.ok) return body
  throw new Error(messageOf(body, response.status))
}

/**
 * @param {string} path
 * @param {string} query
 * @param {AbortSignal | undefined} signal
 */
const send = async (path, query, signal) => {
  try {
    return await fetch(query === '' ? path : `${path}?${query}`, {
      headers: token === '' ? {} : { authorization: `Bearer ${token}` },
      cache: 'no-store',
      redirect: 'error',
      referrerPolicy: 'no-referrer',
      signal: signal ?? null,
    })
  } catch (error) {
    if (signal?.aborted === true) throw error
    throw new Error('The server does not respond. Does it run, and is the port still forwarded?', {
      cause: error,
    })
  }
}

/** @param {Readonly<Record<string, string | readonly string[] | null | undefined>>} parameters */
const queryOf = (parameters) => {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) {
    const values = typeof value === 'string' ? [value] : (value ?? [])
    for (const each of values) if (each !== '') query.append(name, each)
  }
  return query.toString()
}

/** @param {Response} response */
const readJson = async (response) => {
  try {
    /** @type {unknown} */
    const body = await response.json()
    return body
  } catch {
    return undefined
  }
}

/**
 * @param {unknown} body an error record, or anything
 * @param {number} status
 */
const messageOf = (body, status) => {
  const record = /** @type {{ message?: unknown, description?: unknown }} */ (body ?? {})
  const texts = [record.message, record.description].filter(
    (text) => typeof text === 'string' && text !== '',
  )
  return texts.length === 0 ? `The server answered with ${status}.` : texts.join('. ')
}
