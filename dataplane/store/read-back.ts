// Builds the records of §2.14 for reading a loaded document back: as submitted, with `ts`, and `versions` as a map.
// They never contain a value from a Secret.

import { parseJson } from '../../base/parse-json.ts'
import { ownValue } from '../../language/expression/lookup.ts'
import { isMap, setOwn, type Value, type ValueMap } from '../../language/expression/value.ts'
import { withVersionMap } from '../../language/versions.ts'
import { expand } from './packed/compact.ts'
import type { LoadedDocument } from './loaded-content.ts'

/** API Spec full record. */
export const fullRecord = (document: LoadedDocument): ValueMap => ({
  ...withVersionMap(parseSource(document)),
  ts: document.ts,
})

const INFO_KEYS = ['host', 'id', 'meta', 'name', 'realm_uri'] as const

/** API Spec info record; members that the document does not have are left out. */
export const infoRecord = (document: LoadedDocument): ValueMap => {
  const source = parseSource(document)
  const record: Record<string, Value> = {}
  for (const key of INFO_KEYS) {
    const value = ownValue(source, key)
    if (value !== undefined) setOwn(record, key, value)
  }
  return { ...record, ts: document.ts }
}

const parseSource = (document: LoadedDocument): ValueMap => {
  const source = parseJson(expand(document.source).toString())
  if (!isMap(source)) throw new Error(`the source of '${document.id}' is not a map`)
  return source
}
