// The raw head of a request in, the few fields that routing and negotiation need out: one pass over the
// raw header list. Building node's header map would cost more than all the rest of a static answer.

import type { IncomingMessage } from 'node:http'

export interface RequestHead {
  readonly host: string
  readonly hostCount: number
  readonly accept: string | undefined
  readonly acceptLanguage: string | undefined
  readonly contentType: string | undefined
  /** Declared length; NaN where none is declared. */
  readonly contentLength: number
  readonly isChunked: boolean
}

interface Draft {
  host: string
  hostCount: number
  accept: string | undefined
  acceptLanguage: string | undefined
  contentType: string | undefined
  contentLength: number
  isChunked: boolean
}

/** Repeated `Accept` and `Accept-Language` lines count as one list (RFC 9110 §5.3). */
export const readHead = (request: IncomingMessage): RequestHead => {
  const draft: Draft = {
    host: '',
    hostCount: 0,
    accept: undefined,
    acceptLanguage: undefined,
    contentType: undefined,
    contentLength: Number.NaN,
    isChunked: false,
  }
  const { rawHeaders } = request
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    // The length of a name rules out nearly all headers before any text is compared.
    const read = READERS[name.length]
    if (read !== undefined) read(draft, name, rawHeaders[index + 1] ?? '')
  }
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
  12: (draft, name, value) => {
    if (is(name, 'content-type')) draft.contentType = value
  },
  14: (draft, name, value) => {
    if (is(name, 'content-length')) draft.contentLength = Number(value)
  },
  15: (draft, name, value) => {
    if (is(name, 'accept-language'))
      draft.acceptLanguage =
        draft.acceptLanguage === undefined ? value : `${draft.acceptLanguage}, ${value}`
  },
  17: (draft, name) => {
    if (is(name, 'transfer-encoding')) draft.isChunked = true
  },
}

/** True when bytes of a body will come, or may. */
export const hasBody = (head: RequestHead): boolean => head.isChunked || head.contentLength > 0

export interface Target {
  /** As sent, without the query. */
  readonly path: string
  readonly query: string
  /** Authority of an absolute-form target (RFC 9112 §3.2.2): it replaces the Host header. */
  readonly authority: string | undefined
}

/** undefined for a target that names no path: `*`, or an authority. */
export const readTarget = (url: string): Target | undefined => {
  let rest = url
  let authority: string | undefined
  if (!url.startsWith('/')) {
    const start = url.indexOf('://')
    if (start < 0) return undefined
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

/** A Host value without its port, and the port if there is one. IPv6 literals keep their brackets. */
export const splitHost = (host: string): readonly [name: string, port: string] => {
  const end = host.startsWith('[') ? host.indexOf(']') + 1 : 0
  const colon = host.indexOf(':', end)
  return colon < 0 ? [host, ''] : [host.slice(0, colon), host.slice(colon + 1)]
}
