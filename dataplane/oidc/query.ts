// Reads parameters of a query string or form, decoded once. A parameter that occurs twice has no value.

/** `absent`, `repeated`, or the one value; an empty value is a value. */
export type Parameter =
  | { readonly kind: 'absent' }
  | { readonly kind: 'repeated' }
  | { readonly kind: 'one'; readonly value: string }

/** @example readParameter(new URLSearchParams('a=1&a=2'), 'a') // { kind: 'repeated' } */
export const readParameter = (query: URLSearchParams, name: string): Parameter => {
  const values = query.getAll(name)
  const [value] = values
  if (value === undefined) return { kind: 'absent' }
  return values.length > 1 ? { kind: 'repeated' } : { kind: 'one', value }
}

/** The only value, if it is not empty. */
export const readText = (query: URLSearchParams, name: string): string | undefined => {
  const parameter = readParameter(query, name)
  return parameter.kind === 'one' && parameter.value !== '' ? parameter.value : undefined
}
