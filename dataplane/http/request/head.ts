// Reads the few fields of a raw request head that routing and negotiation need, and whether it must be rejected, in
// one pass over the raw header list. Building node's header map would cost more than all the rest of a static
// response.

import type { IncomingMessage } from 'node:http'
import { type Authority, NO_AUTHORITY, parseAuthority } from '../../../language/routes/authority.ts'
import { readTarget, type Target } from '../../../language/routes/request-target.ts'
import type { HeadError } from './head-error.ts'

export interface RequestHead {
  /** The request must be rejected; neither target nor authority may be used. */
  readonly error: HeadError | undefined
  /** The host that the request is for, from its absolute target, otherwise from its Host. */
  readonly authority: Authority
  readonly target: Target
  readonly accept: string | undefined
  readonly acceptLanguage: string | undefined
  readonly contentType: string | undefined
  /** Declared length; NaN where none is declared. */
  readonly contentLength: number
  readonly isChunked: boolean
  /** `Upgrade`; undefined: there is none. */
  readonly upgrade: string | undefined
}

const NO_TARGET: Target = Object.freeze({ path: '', query: '' })

interface Draft {
  error: HeadError | undefined
  authority: Authority
  target: Target
  accept: string | undefined
  acceptLanguage: string | undefined
  contentType: string | undefined
  contentLength: number
  isChunked: boolean
  upgrade: string | undefined
  host: string
  hostCount: number
  codings: string
}

/**
 * Repeated `Accept` and `Accept-Language` lines count as one list (RFC 9110 §5.3), and so do those of `Content-Type`, of which
 * a list is no type: an upstream could read another line of them than the gateway. The authority of an absolute target
 * replaces Host in the message too (RFC 9112 §3.2.2), so that no later code sees another one.
 */
export const readHead = (request: IncomingMessage): RequestHead => {
  const draft: Draft = {
    error: undefined,
    authority: NO_AUTHORITY,
    target: NO_TARGET,
    accept: undefined,
    acceptLanguage: undefined,
    contentType: undefined,
    contentLength: Number.NaN,
    isChunked: false,
    upgrade: undefined,
    host: '',
    hostCount: 0,
    codings: '',
  }
  const { rawHeaders } = request
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    // The length of a name rules out nearly all headers before any text is compared.
    const read = READERS[name.length]
    if (read !== undefined) read(draft, name, rawHeaders[index + 1] ?? '')
  }
  draft.error = framingErrorOf(draft, request) ?? locate(draft, request)
  return draft
}

type Reader = (draft: Draft, name: string, value: string) => void

const is = (name: string, lower: string): boolean => name === lower || name.toLowerCase() === lower

const READERS: Readonly<Record<number, Reader>> = {
  4: (draft, name, value) => {
    if (!is(name, 'host')) return
    draft.host = value
    draft.hostCount++
  },
  6: (draft, name, value) => {
    if (is(name, 'accept'))
      draft.accept = draft.accept === undefined ? value : `${draft.accept}, ${value}`
  },
  7: (draft, name, value) => {
    if (is(name, 'upgrade'))
      draft.upgrade = draft.upgrade === undefined ? value : `${draft.upgrade}, ${value}`
  },
  12: (draft, name, value) => {
    if (is(name, 'content-type'))
      draft.contentType = draft.contentType === undefined ? value : `${draft.contentType}, ${value}`
  },
  14: (draft, name, value) => {
    if (is(name, 'content-length')) draft.contentLength = Number(value)
  },
  15: (draft, name, value) => {
    if (is(name, 'accept-language'))
      draft.acceptLanguage =
        draft.acceptLanguage === undefined ? value : `${draft.acceptLanguage}, ${value}`
  },
  17: (draft, name, value) => {
    if (!is(name, 'transfer-encoding')) return
    draft.codings = draft.isChunked ? `${draft.codings}, ${value}` : value
    draft.isChunked = true
  },
}

/** True when bytes of a body will come, or may. */
export const hasBody = (head: Pick<RequestHead, 'isChunked' | 'contentLength'>): boolean =>
  head.isChunked || head.contentLength > 0

/**
 * The parser accepts HTTP/0.9 and 2.0, chunks in HTTP/1.0, and any coding before `chunked`, which it does not decode.
 * A proxy in front may have found the end of such a request elsewhere (RFC 9112 §6.1).
 */
const framingErrorOf = (
  { isChunked, codings }: Draft,
  { httpVersionMajor: major, httpVersionMinor: minor }: IncomingMessage,
): HeadError | undefined => {
  if (major !== 1 || minor > 1) return 'version'
  if (!isChunked) return undefined
  if (minor === 0) return 'chunks_by_1_0'
  return is(codings, 'chunked') ? undefined : 'coding'
}

const locate = (draft: Draft, request: IncomingMessage): HeadError | undefined => {
  const sent = readTarget(request.url ?? '')
  if (typeof sent === 'string') return sent
  if (draft.hostCount > 1) return 'two_hosts'
  if (draft.hostCount === 0 && request.httpVersionMinor === 1) return 'no_host'
  const host = parseAuthority(draft.host)
  if (host === undefined) return 'host'
  const named = sent.authority === undefined ? host : parseAuthority(sent.authority)
  // RFC 9110 §4.2.1: a URI with an empty host is invalid.
  if (named === undefined || (named.host === '' && sent.authority !== undefined)) return 'target'
  if (sent.authority !== undefined) replaceHost(request, named)
  draft.target = sent
  draft.authority = named
  return undefined
}

/** Also if node has built its map of headers already. */
const replaceHost = ({ rawHeaders, headers }: IncomingMessage, { text }: Authority): void => {
  const at = rawHeaders.findIndex((name, index) => index % 2 === 0 && is(name, 'host'))
  if (at < 0) rawHeaders.push('Host', text)
  else rawHeaders[at + 1] = text
  headers.host = text
}
