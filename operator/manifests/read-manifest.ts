// Reads the resources of one manifest file with their lines and notes, and reports each object that can't be read, or
// the error that makes the whole file unreadable. Lists are flattened; objects of other kinds are left out.

import { isList, isMap } from '../../language/expression/value.ts'
import type { Problem } from '../../language/problem.ts'
import { type KnownMetadata, misspeltKind, readResource } from '../resource/read-resource.ts'
import type { Resource } from '../resource/resource.ts'
import { strictProblems } from '../resource/strict-manifest.ts'
import type { SourceNote } from '../resource/resource-source.ts'
import type { Position } from './locate-pointer.ts'
import { type ParsedDocument, parseYaml, type PositionOf } from './parse-yaml.ts'

/** One object of a file, not yet a resource: its identity depends on earlier versions. */
export interface ManifestEntry {
  readonly value: unknown
  readonly position: Position
  /** As it would be read without any earlier version. */
  readonly resource: Resource
  readonly positionOf: PositionOf
}

export interface ReadManifest {
  readonly entries: readonly ManifestEntry[]
  /** Warnings. */
  readonly notes: readonly SourceNote[]
  /** What can't be read: objects, the first 100 of them, or the file as a whole. It may define anything. */
  readonly problems: readonly SourceNote[]
}

/** The most notes of one file: each stands in every status. */
const MAX_PROBLEMS = 100

const NOTHING_KNOWN: KnownMetadata = { uid: '', resourceVersion: '', generation: 1, createdAt: 0 }

/** @param file as people know it, for notes */
export const readManifest = (text: string, file: string): ReadManifest => {
  const parsed = parseYaml(text)
  if ('error' in parsed) {
    const { message, line, column } = parsed.error
    const origin = { file, line, column }
    return unreadable({ severity: 'error', message: `not YAML: ${message}`, origin })
  }
  const entries: ManifestEntry[] = []
  const notes: SourceNote[] = []
  const problems: SourceNote[] = []
  for (const { document, item } of parsed.documents.flatMap(flatten)) {
    const read = readResource(item.value, NOTHING_KNOWN, { file, ...item.position })
    if (read.result === 'error') {
      if (problems.length < MAX_PROBLEMS) problems.push(problemNote(read.problems, { file, item }))
    } else if (read.result === 'foreign') {
      const problem = misspeltKind(read.apiVersion, read.kind)
      if (problem !== undefined) notes.push(problemNote([problem], { file, item }))
    } else {
      const { resource } = read
      entries.push({ ...item, resource })
      notes.push(...strictNotes(item, { file, resource }))
      notes.push(...warningNotes(document, item, { file, resource }))
    }
  }
  return { entries, notes, problems }
}

/** What is known of a file of which nothing can be read. */
export const unreadable = (error: SourceNote): ReadManifest => ({
  entries: [],
  notes: [],
  problems: [error],
})

/** An object of a document: the document itself, or an item of the list that it is. */
export interface ManifestItem {
  readonly value: unknown
  readonly position: Position
  /** Pointer of the item in its document: of an item of a list. */
  readonly at: string
  readonly positionOf: PositionOf
}

interface Placed {
  readonly document: ParsedDocument
  readonly item: ManifestItem
}

const MAX_LIST_DEPTH = 4

/** `kind: List`, and `ApiSpecificationList` as `kubectl get -o yaml` and the API have it. */
export const flatten = (document: ParsedDocument): readonly Placed[] => {
  const { value, position, positionOf } = document
  const whole = { value, position, at: '', positionOf }
  return flattenItem(document, whole, 0)
}

const flattenItem = (
  document: ParsedDocument,
  item: ManifestItem,
  depth: number,
): readonly Placed[] => {
  const items = listItems(item.value)
  if (items === undefined || depth === MAX_LIST_DEPTH) return [{ document, item }]
  return items.flatMap((value, i) => {
    const at = `${item.at}/items/${i}`
    const positionOf: PositionOf = (pointer, within) =>
      document.positionOf(`${at}${pointer}`, within)
    return flattenItem(document, { value, position: positionOf(''), at, positionOf }, depth + 1)
  })
}

const listItems = (value: unknown): readonly unknown[] | undefined => {
  if (!isMap(value)) return undefined
  const { kind, items } = value
  return typeof kind === 'string' && kind.endsWith('List') && isList(items) ? items : undefined
}

const problemNote = (
  problems: readonly Problem[],
  { file, item }: { readonly file: string; readonly item: ManifestItem },
): SourceNote => {
  const first = problems[0]
  const path = first?.path ?? ''
  const message = first?.message ?? 'this is not a Kubernetes resource'
  return { severity: 'error', message, path, origin: { file, ...item.positionOf(path) } }
}

/** An API server would refuse the object; here what is wrong with it has no effect, and its owner should know. */
const strictNotes = (
  item: ManifestItem,
  { file, resource }: { readonly file: string; readonly resource: Resource },
): readonly SourceNote[] =>
  isMap(item.value)
    ? strictProblems(item.value, resource.kind).map((problem) => ({
        ...problemNote([problem], { file, item }),
        severity: 'warning',
        resource: `${resource.kind} ${resource.metadata.namespace}/${resource.metadata.name}`,
      }))
    : []

export const warningNotes = (
  { warnings }: ParsedDocument,
  { at }: ManifestItem,
  { file, resource }: { readonly file: string; readonly resource: Resource },
): readonly SourceNote[] =>
  warnings
    .filter(({ path }) => at === '' || path.startsWith(`${at}/`))
    .map(({ position, path, message }) => ({
      severity: 'warning',
      message,
      origin: { file, ...position },
      path: path.slice(at.length),
      resource: `${resource.kind} ${resource.metadata.namespace}/${resource.metadata.name}`,
    }))
