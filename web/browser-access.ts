// Decides which requests of browsers may be answered by a listener that is for people on the machine and for programs:
// none of a foreign web page, but for navigations to pages without data.

import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

export interface AccessRejection {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  /** The reason, if it is not that credentials are missing. */
  readonly message?: string
}

export type Authorize = (
  req: Pick<IncomingMessage, 'method' | 'headers' | 'socket'>,
) => true | AccessRejection

/**
 * Rejects requests of web pages, before any credentials are checked: browsers send client certificates, and cookies
 * of proxies, for whatever page sends a request. A page that writes sends its Origin, and browsers say in
 * `Sec-Fetch-Site` (Fetch Metadata) who started the request: `none` is a person at the address bar. Programs send
 * neither.
 */
export const refuseWebPages: Authorize = ({ method = '', headers }) => {
  const site = headers['sec-fetch-site'] ?? 'none'
  const isReading = method === 'GET' || method === 'HEAD'
  const isOwn = site === 'none' || (isReading && site === 'same-origin')
  if (isOwn && (isReading || headers.origin === undefined)) return true
  return forbidden('No web page may use the management API')
}

/**
 * For the files of a page, which contain no data: every browser may open the page in a tab, also by a link on another
 * page. Only the page itself may load its parts; it may not be framed, nor any part be run as a worker.
 */
export const allowPageFiles: Authorize = ({ headers }) => {
  const site = headers['sec-fetch-site'] ?? 'none'
  const destination = headers['sec-fetch-dest']
  const isNavigation = headers['sec-fetch-mode'] === 'navigate' && destination === 'document'
  const isOwn = site === 'none' || site === 'same-origin'
  const isKnown = destination === undefined || OWN_DESTINATIONS.has(destination)
  if (headers['service-worker'] === undefined && (isNavigation || (isOwn && isKnown))) return true
  return forbidden('No other web page may load this')
}

const OWN_DESTINATIONS: ReadonlySet<string> = new Set([
  'document',
  'empty',
  'image',
  'script',
  'style',
])

/**
 * For a listener on loopback: admits everybody on this machine, but no web page in a browser there. `refuseWebPages`
 * rejects pages that write; one that reads has an Origin, or uses a host name of its own (DNS rebinding).
 */
export const allowLocal: Authorize = (req) => {
  const result = allowLocalHost(req)
  if (result !== true || req.headers.origin === undefined) return result
  return forbidden('Without credentials the management API rejects requests of web pages')
}

/** For a listener on loopback: rejects requests under a name that somebody else may lead there (DNS rebinding). */
export const allowLocalHost: Authorize = ({ headers }) =>
  isLocalName(headers.host ?? '')
    ? true
    : {
        status: 404,
        headers: {},
        message:
          'Without credentials the management API is served only under the name localhost or a loopback address',
      }

const isLocalName = (host: string): boolean => {
  const name = host.replace(/:\d*$/, '').toLowerCase()
  const isBracketed = name.startsWith('[') && name.endsWith(']')
  return (
    name === '' ||
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    isIP(isBracketed ? name.slice(1, -1) : name) !== 0
  )
}

const forbidden = (message: string): AccessRejection => ({ status: 403, headers: {}, message })
