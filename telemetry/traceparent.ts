// Parses a `traceparent` header into its ids and sampling decision (W3C Trace Context, §3.2). Stricter than the
// vendor's reader: rejects two headers joined to one, or a blank too many. Pure.

export interface Traceparent {
  /** 32 hex digits, not all zero. */
  readonly traceId: string
  /** 16 hex digits, not all zero: the sender's span. */
  readonly spanId: string
  readonly isSampled: boolean
}

/**
 * undefined when the text is not valid. Of later versions, the fields of this one are read (§4.3).
 * @example parseTraceparent('00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01') // {isSampled: true, …}
 */
export const parseTraceparent = (text: string | undefined): Traceparent | undefined => {
  if (text === undefined || text.length > MAX_LENGTH) return undefined
  const found = FORM.exec(text)
  if (found === null) return undefined
  const [, traceId = '', spanId = '', flags = ''] = found
  return { traceId, spanId, isSampled: (parseInt(flags, 16) & 1) === 1 }
}

/** Version 00 is complete with its four fields, ff is invalid, later ones may have more fields. */
const FORM =
  /^(?:00(?=.{53}$)|(?!00|ff)[\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(?:-.*)?$/
const MAX_LENGTH = 256
