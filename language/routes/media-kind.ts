// Reads Content-Type values: the kind of body that one names (JSON, MessagePack, a form, or none that the gateway
// decodes), and its charset.

export type MediaKind = 'json' | 'msgpack' | 'form' | 'other'

/** The kind of a Content-Type value; parameters and case do not matter. `+json` types are JSON. */
export const mediaKind = (contentType: string): MediaKind => {
  const type = mediaTypeOf(contentType)
  if (type === 'application/json' || type.endsWith('+json')) return 'json'
  if (MSGPACK.has(type)) return 'msgpack'
  return type === 'application/x-www-form-urlencoded' ? 'form' : 'other'
}

const MSGPACK: ReadonlySet<string> = new Set([
  'application/msgpack',
  'application/vnd.msgpack',
  'application/x-msgpack',
])

/** The type without parameters, in lower case. */
export const mediaTypeOf = (contentType: string): string => {
  const end = contentType.indexOf(';')
  return (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase()
}

/** Whether a body of the type is text. Servers name a charset for images and archives, too, where it means nothing. */
export const isTextual = (contentType: string): boolean => TEXTUAL.test(mediaTypeOf(contentType))

const TEXTUAL =
  /^text\/|\b(?:json|ndjson|xml|yaml|csv|javascript|ecmascript|graphql|sql|form-urlencoded)\b/

/**
 * The charset that a Content-Type value names, in lower case.
 * @example charsetOf('text/plain; Charset="ISO-8859-1"') // 'iso-8859-1'
 */
export const charsetOf = (contentType: string): string | undefined =>
  CHARSET.exec(contentType)?.[1]?.replaceAll('"', '').trim().toLowerCase()

/** The Content-Type for text that is written as UTF-8, where the value may name the charset that it was read from. */
export const writtenAsUtf8 = (contentType: string): string => {
  const charset = charsetOf(contentType)
  return charset === undefined || UTF_8.has(charset)
    ? contentType
    : contentType.replace(CHARSET, '; charset=utf-8')
}

const CHARSET = /;\s*charset\s*=\s*("[^"]*"|[^;]*)/i
const UTF_8: ReadonlySet<string> = new Set(['utf-8', 'utf8'])
