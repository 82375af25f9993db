// Reads case files of a directory as typed data. A word that the runner does not know is an error, so that no
// expectation is ever passed over in silence.

import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { isList, isMap, type Json, type JsonMap } from './json.ts'

/** A text, or parts of one: `"text"`, `{text, times}`, `{hex, times}`, `{pause_ms}`. */
export type Parts = PartSpec | readonly PartSpec[]
export type PartSpec =
  | string
  | { readonly text: string; readonly times?: number }
  | { readonly hex: string; readonly times?: number }
  | { readonly pause_ms: number }

export type Target = 'public' | 'management' | 'upstream'
export type HeaderPairs = readonly (readonly [name: string, value: Parts])[]

export interface RequestSpec {
  readonly method?: string
  readonly path: Parts
  readonly headers?: HeaderPairs | Readonly<Record<string, Parts>>
  readonly json?: Json
  readonly form?: Readonly<Record<string, string>> | readonly (readonly [string, string])[]
  readonly msgpack?: Json
  readonly body?: Parts
  readonly basic?: readonly [user: Parts, password: Parts]
  readonly bearer?: string
  readonly chunked?: boolean
  readonly to?: Target
}

export interface LoadSpec {
  readonly document?: Json
  readonly from?: string
  readonly set?: JsonMap
  readonly remove?: readonly string[]
  readonly body?: Parts
  readonly via?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly expect?: Expectation
}

export interface UpstreamExpectation {
  readonly path?: string
  readonly path_match?: string
  readonly count?: number
  readonly last?: JsonMap
  readonly on?: 1 | 2
}

type HeaderExpectation = string | null | readonly string[] | JsonMap

export interface Expectation {
  readonly status?: number | string | readonly (number | string)[]
  readonly headers?: Readonly<Record<string, HeaderExpectation>>
  readonly json?: Json
  readonly json_has?: Json
  readonly msgpack?: Json
  readonly text?: string
  readonly not_text?: string
  readonly empty?: boolean
  readonly hex?: string
  readonly big_bytes?: number
  readonly max_bytes?: number
  readonly error?: true | string
  readonly at_least_ms?: number
  readonly upstream?: readonly UpstreamExpectation[]
  readonly any_of?: readonly Expectation[]
  readonly statuses?: readonly number[]
  readonly answers?: number | readonly number[]
  readonly closed?: boolean
  readonly broken?: boolean
}

export interface Step {
  readonly name?: string
  readonly why?: string
  readonly request?: RequestSpec
  readonly load?: LoadSpec
  readonly rejects?: readonly (readonly [pointer: string, code: string])[]
  readonly unload?: string
  readonly realm?: JsonMap
  readonly raw?: Parts
  readonly head?: boolean
  readonly to?: Target
  readonly hang_up_ms?: number
  readonly wait_ms?: number
  readonly together?: readonly Step[]
  readonly then?: readonly Step[]
  readonly repeat?: number
  readonly save?: Readonly<Record<string, string>>
  readonly timeout_s?: number
  readonly expect?: Expectation
}

export interface CaseFile {
  /** File name without `.json`: what the ids, hosts and realms of the file are made of. */
  readonly stem: string
  readonly realms: readonly JsonMap[]
  readonly documents: JsonMap
  readonly load: readonly LoadSpec[]
  readonly steps: readonly Step[]
}

export const readCaseFiles = async (directory: string): Promise<readonly CaseFile[]> => {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.json')).sort()
  return Promise.all(
    names.map(async (name) => parseCaseFile(name, await readFile(join(directory, name), 'utf8'))),
  )
}

/** Throws an `Error` that names the file and the place of anything unknown in it. */
export const parseCaseFile = (name: string, text: string): CaseFile => {
  const data: unknown = JSON.parse(text)
  checkWords('file', data, name)
  const file = data as Partial<CaseFile>
  const { documents = {}, load = [], steps = [] } = file
  const realms = file.realms ?? [{ uri: '@REALM@', description: 'conformance' }]
  return { stem: basename(name, '.json'), realms, documents, load, steps }
}

/** The words of each level, and the levels below it. */
const WORDS = {
  file: { comment: 0, realms: 0, documents: 0, load: 'load', steps: 'step' },
  step: {
    name: 0,
    why: 0,
    request: 'request',
    load: 'load',
    rejects: 0,
    unload: 0,
    realm: 0,
    raw: 0,
    head: 0,
    to: 0,
    hang_up_ms: 0,
    wait_ms: 0,
    together: 'step',
    then: 'step',
    repeat: 0,
    save: 0,
    timeout_s: 0,
    expect: 'expect',
  },
  request: {
    method: 0,
    path: 0,
    headers: 0,
    json: 0,
    form: 0,
    msgpack: 0,
    body: 0,
    basic: 0,
    bearer: 0,
    chunked: 0,
    to: 0,
  },
  load: { document: 0, from: 0, set: 0, remove: 0, body: 0, via: 0, headers: 0, expect: 'expect' },
  expect: {
    status: 0,
    headers: 0,
    json: 0,
    json_has: 0,
    msgpack: 0,
    text: 0,
    not_text: 0,
    empty: 0,
    hex: 0,
    big_bytes: 0,
    max_bytes: 0,
    error: 0,
    at_least_ms: 0,
    upstream: 'upstream',
    any_of: 'expect',
    statuses: 0,
    answers: 0,
    closed: 0,
    broken: 0,
  },
  upstream: { path: 0, path_match: 0, count: 0, last: 0, on: 0 },
} as const

type Level = keyof typeof WORDS

const checkWords = (level: Level, data: unknown, at: string): void => {
  if (isList(data)) {
    data.forEach((item, i) => {
      checkWords(level, item, `${at}/${i}`)
    })
    return
  }
  if (!isMap(data)) throw new Error(`${at}: expected a map`)
  const words: Readonly<Record<string, Level | 0>> = WORDS[level]
  for (const [word, value] of Object.entries(data)) {
    const below = Object.hasOwn(words, word) ? words[word] : undefined
    if (below === undefined) throw new Error(`${at}/${word}: the runner does not know this word`)
    if (below !== 0) checkWords(below, value, `${at}/${word}`)
  }
}
