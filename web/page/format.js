// Writes values as a person reads them, and the views of the page as fragments of its address. Pure.

/** @import { Lag, SessionCounts, State, StateCounts } from '../overview.ts' */

/** @type {Readonly<Record<State, { readonly word: string, readonly mark: string }>>} */
const STATES = {
  failed: { word: 'Not ready', mark: '✕' },
  degraded: { word: 'Degraded', mark: '!' },
  pending: { word: 'Pending', mark: '…' },
  ready: { word: 'Ready', mark: '✓' },
}

/** @param {State} state */
export const stateWord = (state) => STATES[state].word

/**
 * A sign beside the word, as colours alone say nothing to many.
 * @param {State} state
 */
export const stateMark = (state) => STATES[state].mark

/**
 * @param {StateCounts} counts
 * @returns {number}
 */
export const sumOf = ({ failed, degraded, pending, ready }) => failed + degraded + pending + ready

/**
 * @param {number} count
 * @param {string} one
 * @param {string} [many]
 * @example countText(2, 'error') // '2 errors'
 */
export const countText = (count, one, many = `${one}s`) =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`

/**
 * @param {string | null} digest
 * @example shortDigest('0123456789abcdef@shop') // '01234567@shop'
 */
export const shortDigest = (digest) => {
  if (digest === null) return 'none'
  const [hash = '', confined] = digest.replace(/^sha256:/, '').split('@', 2)
  return `${hash.slice(0, 8)}${confined === undefined ? '' : `@${confined}`}`
}

/**
 * @param {string | null} host as a document has it
 * @example hostText('_') // 'every host'
 */
export const hostText = (host) => (host === '_' ? 'every host' : host)

/**
 * @param {Lag} lag
 * @example lagText({ missing: 1, outdated: 2, extra: 0 }) // '1 missing, 2 outdated'
 */
export const lagText = ({ missing, outdated, extra }) => {
  const parts = [
    missing > 0 && `${missing} missing`,
    outdated > 0 && `${outdated} outdated`,
    extra > 0 && `${extra} to delete`,
  ].filter((part) => part !== false)
  return parts.length === 0 ? 'none' : parts.join(', ')
}

/**
 * @param {SessionCounts} counts
 * @example sessionsText({ open: 2, connecting: 0, waiting: 1, refused: 0 }) // '2 open, 1 waiting'
 */
export const sessionsText = (counts) => {
  const parts = /** @type {const} */ (['open', 'connecting', 'waiting', 'refused']).flatMap(
    (state) => (counts[state] === 0 ? [] : [`${counts[state]} ${state}`]),
  )
  return parts.length === 0 ? 'none' : parts.join(', ')
}

/**
 * @param {string} iso
 * @returns {string} in the reader's time zone; the text itself where it is no time
 */
export const timeText = (iso) => {
  const time = new Date(iso)
  if (Number.isNaN(time.getTime())) return iso
  const two = (/** @type {number} */ value) => String(value).padStart(2, '0')
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`
  const clock = `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`
  return `${day} ${clock}`
}

/**
 * What a view shows stands in the fragment, which browsers never send.
 * @param {string} view
 * @param {Readonly<Record<string, string | null | undefined>>} [parameters]
 * @example hashOf('documents', { match: 'a b' }) // '#/documents?match=a+b'
 */
export const hashOf = (view, parameters = {}) => {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters))
    if (value !== null && value !== undefined && value !== '') query.set(name, value)
  return query.size === 0 ? `#/${view}` : `#/${view}?${query.toString()}`
}

/**
 * @param {string} hash
 * @example readHash('#/documents?match=a+b') // { view: 'documents', parameters: … }
 */
export const readHash = (hash) => {
  const [, view = '', query = ''] = /^#\/([a-z]*)(?:\?(.*))?$/s.exec(hash) ?? []
  return { view, parameters: new URLSearchParams(query) }
}

/**
 * Only addresses of the web become links: a text may say `javascript:`.
 * @param {string} text
 */
export const isWebAddress = (text) => /^https?:\/\/[^\s]+$/i.test(text) && URL.canParse(text)
