// Names the methods and schemes of documents (specification §2).

export const METHODS = ['delete', 'get', 'head', 'options', 'patch', 'post', 'put'] as const
export type Method = (typeof METHODS)[number]

export type Scheme = 'http' | 'https'

/** A scheme that a path is served over; `redirect_http`: a GET or HEAD over http is redirected to https. */
export type ServedScheme = Scheme | 'redirect_http'
