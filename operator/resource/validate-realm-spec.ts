// Validates the spec of a Realm by itself, without the Secrets that it names: with the schema and the warnings of the
// language, as the data plane does. What stands in a Secret is left out.

import { isMap, type ValueMap } from '../../language/expression/value.ts'
import type { Problem, Warning } from '../../language/problem.ts'
import type { RealmRecord } from '../../language/realm/record.ts'
import { realmProblems, UNKNOWN_SECRET } from '../../language/validate-realm.ts'
import { warnOfRealm } from '../../language/realm/warnings.ts'
import { followPointer } from './json-pointer.ts'
import { realmRecord, specPointer } from './realm-record.ts'
import { refuseFailing } from './refuse-failing.ts'
import type { RealmSpec } from './resource.ts'

export interface RealmDiagnostics {
  /** Pointers lead into the resource: `/spec/uri`. */
  readonly problems: readonly Problem[]
  /** The warnings of a spec that has no problems. */
  readonly warnings: readonly Warning[]
}

/** @example validateRealmSpec({ uri: 'com.acme', router: { url: 'ftp://x' } }).problems // [{ path: '/spec/router/url', … }] */
export const validateRealmSpec = (spec: RealmSpec): RealmDiagnostics => {
  const record = realmRecord(spec, () => UNKNOWN_SECRET)
  return diagnosticsOf(
    record,
    realmProblems(record, (pointer) => isSecret(spec, specPointer(pointer))),
  )
}

/** The same with the Secrets in place. */
export const validateCompleteRecord = (record: RealmRecord): RealmDiagnostics =>
  diagnosticsOf(record, realmProblems(record))

const diagnosticsOf = (record: RealmRecord, problems: readonly Problem[]): RealmDiagnostics =>
  refuseFailing({
    problems: problems.map(relocate),
    warnings: problems.length > 0 ? [] : warnOfRealm(record).map(relocate),
  })

const relocate = <D extends Problem | Warning>(diagnostic: D): D => ({
  ...diagnostic,
  path: specPointer(diagnostic.path),
})

/** Whether a pointer leads to, or into, a reference to a Secret. */
const isSecret = (spec: RealmSpec, pointer: string): boolean => {
  const root: ValueMap = { spec }
  const { node } = followPointer(root, pointer)
  return isMap(node) && Object.hasOwn(node, 'secretRef')
}
