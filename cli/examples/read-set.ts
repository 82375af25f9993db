// Reads the values of `--set`.

import type { ValueMap } from '../../language/expression/value.ts'

/** @example readSet(['key=abc']) // { variables: { key: 'abc' } } */
export const readSet = (
  values: readonly string[],
): { readonly variables: ValueMap } | { readonly error: string } => {
  const pairs: [name: string, value: string][] = []
  for (const each of values) {
    const at = each.indexOf('=')
    // What stands there may be a secret.
    if (at < 1) return { error: '--set takes NAME=VALUE, such as --set api_key=abc' }
    pairs.push([each.slice(0, at), each.slice(at + 1)])
  }
  return { variables: Object.fromEntries(pairs) }
}
