// Documents of the conformance cases: the files' shorthands in, plain documents out. Loads nothing.

import { readdirSync, readFileSync } from 'node:fs'
import { pointerKeys } from '../../base/json-pointer.ts'
import { isMap, setOwn, type Value } from '../../language/expression/value.ts'

const CASES = new URL('../conformance/cases/', import.meta.url)

interface Step {
  readonly name?: string
  readonly document?: Value
  readonly load?: {
    readonly document?: Value
    readonly from?: string
    readonly set?: Readonly<Record<string, Value>>
    readonly remove?: readonly string[]
  }
  readonly rejects?: readonly (readonly [path: string, code: string])[]
  readonly expect?: { readonly status?: unknown }
  readonly then?: readonly Step[]
}

interface CaseFile {
  readonly documents?: Readonly<Record<string, Value>>
  readonly realms?: readonly Value[]
  readonly load?: readonly Step[]
  readonly steps?: readonly Step[]
}

export interface CaseDocument {
  readonly name: string
  readonly document: Value
  /** Empty: it must load, unless `fails`. */
  readonly rejects: readonly (readonly [path: string, code: string])[]
  readonly fails: boolean
}

/** Every document that a case file loads, with what must come of it. */
export const caseDocuments = (): readonly CaseDocument[] =>
  caseFiles().flatMap(([file, { documents = {}, load = [], steps = [] }]) =>
    [...load, ...steps].flatMap((step, index) =>
      documentsOf(step, documents, `${file} › ${step.name ?? index}`),
    ),
  )

/** Every realm that a case file creates. */
export const caseRealms = (): readonly (readonly [file: string, realm: Value])[] =>
  caseFiles().flatMap(([file, { realms = [] }]) =>
    realms.map((realm) => [file, filled(realm)] as const),
  )

const caseFiles = (): readonly (readonly [string, CaseFile])[] =>
  readdirSync(CASES)
    .filter((name) => name.endsWith('.json'))
    .map((name) => [name, JSON.parse(readFileSync(new URL(name, CASES), 'utf8')) as CaseFile])

const documentsOf = (
  step: Step,
  documents: Readonly<Record<string, Value>>,
  name: string,
): readonly CaseDocument[] => {
  const inner = (step.then ?? []).flatMap((child, index) =>
    documentsOf(child, documents, `${name} › ${index}`),
  )
  const { load } = step
  const base = step.document ?? load?.document ?? documents[load?.from ?? '']
  if (base === undefined) return inner
  const { rejects = [], expect: { status = 204 } = {} } = step
  const fails = rejects.length > 0 || status !== 204
  return [{ name, document: expanded(changed(base, load)), rejects, fails }, ...inner]
}

const changed = (base: Value, { set = {}, remove = [] }: Step['load'] = {}): Value => {
  const document = structuredClone(base)
  for (const [pointer, value] of Object.entries(set)) change(document, pointer, value)
  for (const pointer of remove) change(document, pointer, undefined)
  return document
}

const change = (document: Value, pointer: string, value: Value | undefined): void => {
  const keys = pointerKeys(pointer)
  const last = keys.pop() ?? ''
  let target = document as Record<string, Value>
  for (const key of keys) target = target[key] as Record<string, Value>
  if (value === undefined) Reflect.deleteProperty(target, last)
  else setOwn(target, last, value)
}

/** `{"@times": […]}`, `{"@nest": […]}`, `{"@paths": […]}`. */
const expanded = (value: Value): Value => {
  if (Array.isArray(value)) return value.map((item: Value) => expanded(item))
  if (!isMap(value)) return value
  const { '@times': times, '@nest': nest, '@paths': paths } = value
  if (Array.isArray(times)) {
    const [text, count, before = '', after = ''] = times as [string, number, string?, string?]
    return before + text.repeat(count) + after
  }
  if (Array.isArray(nest)) {
    const [key, count, inner] = nest as [string, number, Value]
    return Array.from({ length: count }).reduce<Value>((held) => ({ [key]: held }), expanded(inner))
  }
  if (Array.isArray(paths)) {
    const [count, path] = paths as [number, Value]
    return Object.fromEntries(Array.from({ length: count }, (_, index) => [`/p${index}`, path]))
  }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, expanded(item)]))
}

/** Placeholders that a schema looks into. */
const filled = (value: Value): Value =>
  JSON.parse(
    JSON.stringify(value)
      .replaceAll(/@scrypt:[^@]+@/g, '$scrypt$ln=14,r=8,p=1$c2FsdA$aGFzaA')
      .replaceAll(/@sha256:[^@]+@/g, '0'.repeat(64))
      .replaceAll('@REFUSED@', 'http://127.0.0.1:9'),
  ) as Value
