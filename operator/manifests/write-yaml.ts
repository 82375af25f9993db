// Writes a JSON value as YAML that kubectl and the operator read back as that very value. Where that is not certain it
// writes JSON, which is YAML too.

import { stringify } from 'yaml'
import { printable } from '../../telemetry/printable.ts'
import { canonicalJson } from '../../language/wire/digest.ts'
import type { Value, ValueMap } from '../../language/expression/value.ts'
import { parseYaml } from './parse-yaml.ts'

/** Ends with a line break. @example writeYaml({ on: 'yes' }) // '"on": "yes"\n' */
export const writeYaml = (value: ValueMap): string => {
  const text = stringify(value, {
    version: '1.1',
    lineWidth: 0,
    aliasDuplicateObjects: false,
    defaultKeyType: null,
  })
  // So that it can be printed as it is: in double quotes the escapes stand for the same characters.
  const shown = printable(text)
  return isReadAs(shown, value) ? shown : `${JSON.stringify(value, null, 2)}\n`
}

const isReadAs = (text: string, value: ValueMap): boolean => {
  const parsed = parseYaml(text)
  if ('error' in parsed || parsed.documents.length !== 1) return false
  const [document] = parsed.documents
  if (document === undefined || document.warnings.length > 0) return false
  try {
    return canonicalJson(document.value as Value) === canonicalJson(value)
  } catch {
    return false
  }
}
