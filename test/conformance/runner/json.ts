// JSON values as the cases speak of them: a type, a test for maps, and two ways to write them down.

export type Json = null | boolean | number | string | readonly Json[] | JsonMap
export interface JsonMap {
  readonly [key: string]: Json
}

export const isMap = (value: unknown): value is JsonMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const isList = (value: unknown): value is readonly Json[] => Array.isArray(value)

/** The only key of a map that has just one; generators and pattern forms are such maps. */
export const onlyKey = (value: Json): string | undefined => {
  const keys = isMap(value) ? Object.keys(value) : []
  return keys.length === 1 ? keys[0] : undefined
}

/** JSON with a blank behind `,` and `:`, so that a body is no compact JSON by accident. */
export const spacedJson = (value: Json): string => {
  if (isList(value)) return `[${value.map(spacedJson).join(', ')}]`
  if (!isMap(value)) return JSON.stringify(value)
  const members = Object.entries(value).map(
    ([key, v]) => `${JSON.stringify(key)}: ${spacedJson(v)}`,
  )
  return `{${members.join(', ')}}`
}

/** A value in a failure text: strings as they are, all else as JSON, cut at `limit` characters. */
export const shorten = (value: Json | undefined, limit = 160): string => {
  const text =
    typeof value === 'string' ? value : value === undefined ? 'nothing' : spacedJson(value)
  return text.length <= limit ? text : `${text.slice(0, limit)}… (${text.length} characters)`
}
