// Defines a part of a compiled API or version: the keys of documents that it is compiled from, how it is compiled, and how
// it is described to people. A part without its row does not compile, nor does a row that lacks one of these.

import { childPointer } from '../../base/json-pointer.ts'
import { ownValue } from '../expression/lookup.ts'
import type { ValueMap } from '../expression/value.ts'
import type { Keys } from '../schema/document-notation.ts'

/** What a document has under a name, as written; the value of what is not there is undefined. */
export type Written = (name: string) => { readonly value: unknown; readonly pointer: string }

interface LevelPart<Part, Deps> {
  readonly keys: Keys
  /** What the schema rejects has been reported, and is read as if it were not there. */
  readonly compile: (written: Written, deps: Deps) => Part
  /** Under the names of documents. */
  readonly describe: (part: Exclude<Part, undefined>) => ValueMap
}

/** The rows of all parts of a level. */
export type LevelParts<Parts, Deps> = {
  readonly [P in keyof Parts]-?: LevelPart<Parts[P], Deps>
}

export const levelKeys = <Parts, Deps>(rows: LevelParts<Parts, Deps>): Keys =>
  Object.assign({}, ...namesOf(rows).map((name) => rows[name].keys)) as Keys

export const compileLevel = <Parts, Deps>(
  rows: LevelParts<Parts, Deps>,
  map: ValueMap,
  pointer: string,
  deps: Deps,
): Parts => {
  const written: Written = (name) => ({
    value: ownValue(map, name),
    pointer: childPointer(pointer, name),
  })
  return toParts(namesOf(rows).map((name) => [name, rows[name].compile(written, deps)]))
}

/** The parts alone of what has more members. */
export const levelParts = <Parts, Deps>(rows: LevelParts<Parts, Deps>, from: Parts): Parts =>
  toParts(namesOf(rows).map((name) => [name, from[name]]))

/** A part that documents may lack is left out. */
const toParts = <Parts>(parts: readonly (readonly [keyof Parts, unknown])[]): Parts =>
  Object.fromEntries(parts.filter(([, part]) => part !== undefined)) as Parts

export const describeLevel = <Parts, Deps>(
  rows: LevelParts<Parts, Deps>,
  parts: Parts,
): ValueMap => {
  const describe = (name: keyof Parts): ValueMap => {
    const part = parts[name]
    return part === undefined
      ? {}
      : rows[name].describe(part as Exclude<Parts[keyof Parts], undefined>)
  }
  return Object.assign({}, ...namesOf(rows).map(describe)) as ValueMap
}

const namesOf = <Parts, Deps>(rows: LevelParts<Parts, Deps>): readonly (keyof Parts)[] =>
  Object.keys(rows) as (keyof Parts)[]
