// Reads the values of `--set`.

import type { ValueMap } from '../../language/expression/value.ts'
import type { RepeatedFlag } from '../../telemetry/settings-table.ts'

/** The flag of commands that need the values of variables. */
export const SET_FLAG = {
  flag: '--set',
  placeholder: 'NAME=VALUE',
  help: 'a variable that comes from a Secret that is not among the files',
} as const satisfies RepeatedFlag

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
