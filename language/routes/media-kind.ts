// Determines the kind of body that a Content-Type names: JSON, MessagePack, a form, or none that the gateway decodes.

export type MediaKind = 'json' | 'msgpack' | 'form' | 'other'

/** The kind of a Content-Type value; parameters and case do not matter. `+json` types are JSON. */
export const mediaKind = (contentType: string): MediaKind => {
  const end = contentType.indexOf(';')
  const type = (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase()
  if (type === 'application/json' || type.endsWith('+json')) return 'json'
  if (type === 'application/msgpack' || type === 'application/x-msgpack') return 'msgpack'
  return type === 'application/x-www-form-urlencoded' ? 'form' : 'other'
}
