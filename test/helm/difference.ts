// Writes how what the chart makes of other values differs from what it makes of its default values, in a form that
// people read, and applies such a difference again: the former with it is the latter.

import { isDeepStrictEqual } from 'node:util'
import { Document, isScalar, visit, type YAMLMap } from 'yaml'
import type { KubernetesObject } from '../support/helm.ts'
import { applyChanges, type Changes, findChanges, sortKeys } from './value-changes.ts'

type Objects = Readonly<Record<string, KubernetesObject>>

/** The order of objects and of keys is no part of it, nor how a value is written. */
export interface Rendering {
  /** Kind, namespace and name → object. */
  readonly objects: Objects
  /** Each on a line. */
  readonly comments: string
  readonly notes: string
}

/** What is left out is empty. */
export interface Difference {
  /** Text → what stands for it, all over the defaults, before anything else is compared. */
  readonly renamed?: Readonly<Record<string, string>>
  readonly removed?: readonly string[]
  /** Labels and annotations, of each object that stays. */
  readonly everywhere?: Changes
  readonly changed?: Readonly<Record<string, Changes>>
  readonly added?: readonly KubernetesObject[]
  readonly comments?: Changes
  readonly notes?: Changes
}

/** With their keys in order. @throws where two have one name */
export const objectsByName = (objects: readonly KubernetesObject[]): Objects => {
  const named = new Map(objects.map((object) => [nameOf(object), sortKeys(object)]))
  if (named.size < objects.length) throw new Error('two objects have one name')
  return Object.fromEntries(named) as Objects
}

const nameOf = ({ kind, metadata: { name, namespace } }: KubernetesObject): string =>
  `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`

export const findDifference = (
  defaults: Rendering,
  rendering: Rendering,
  renamed: Difference['renamed'] = {},
): Difference => {
  const { objects, comments, notes } = rename(defaults, renamed)
  const names = Object.keys({ ...objects, ...rendering.objects }).sort()
  const stays = (name: string): boolean => name in objects && name in rendering.objects
  const changes = names
    .filter(stays)
    .map((name) => [name, findChanges(objects[name], rendering.objects[name])] as const)
  const everywhere = commonChanges(changes.map(([, each]) => each))
  const own = changes.map(([name, each]) => [name, leaveOut(each, everywhere)] as const)
  const others = names.filter((name) => !stays(name))
  return leaveOutEmpty({
    renamed,
    removed: others.filter((name) => name in objects),
    everywhere,
    changed: Object.fromEntries(own.filter(([, each]) => Object.keys(each).length > 0)),
    added: others.flatMap((name) => rendering.objects[name] ?? []),
    comments: findChanges(comments, rendering.comments),
    notes: findChanges(notes, rendering.notes),
  })
}

/** Never within lists, where changes stand in an order. */
const commonChanges = ([first = {}, ...rest]: readonly Changes[]): Changes =>
  Object.fromEntries(
    Object.entries(first).filter(
      ([place, change]) =>
        /^\/metadata\/(labels|annotations)\//.test(place) &&
        rest.length > 0 &&
        rest.every((each) => isDeepStrictEqual(each[place], change)),
    ),
  )

const leaveOut = (changes: Changes, others: Changes): Changes =>
  Object.fromEntries(Object.entries(changes).filter(([place]) => !(place in others)))

const leaveOutEmpty = <T extends object>(value: T): Partial<T> =>
  Object.fromEntries(
    Object.entries(value).filter(([, each]) => Object.keys(each as object).length > 0),
  ) as Partial<T>

/** @throws where the defaults are others than those it was made with */
export const applyDifference = (defaults: Rendering, difference: Difference): Rendering => {
  const { renamed = {}, removed = [], everywhere = {}, changed = {}, added = [] } = difference
  const { objects, comments, notes } = rename(defaults, renamed)
  const missing = [...removed, ...Object.keys(changed)].filter((name) => !(name in objects))
  if (missing.length > 0) throw new Error(`the defaults have no ${missing.join(', ')}`)
  const stay = Object.entries(objects).filter(([name]) => !removed.includes(name))
  const now = stay.map(
    ([name, object]) =>
      applyChanges(object, { ...everywhere, ...changed[name] }) as KubernetesObject,
  )
  return {
    objects: objectsByName([...now, ...added]),
    comments: applyChanges(comments, difference.comments ?? {}) as string,
    notes: applyChanges(notes, difference.notes ?? {}) as string,
  }
}

const rename = (rendering: Rendering, renamed: Difference['renamed'] = {}): Rendering => {
  let text = JSON.stringify(rendering)
  for (const [from, to] of Object.entries(renamed)) text = text.replaceAll(from, to)
  return JSON.parse(text) as Rendering
}

/** As YAML, with a short change on one line. */
export const writeDifference = (difference: Difference): string => {
  const document = new Document(difference, { aliasDuplicateObjects: false })
  visit(document, {
    Map: (_key, map) => {
      if (isShortChange(map)) map.flow = true
    },
  })
  document.commentBefore =
    ' What differs from the defaults; test/helm/value-changes.ts says how a place is written.'
  return document.toString({ lineWidth: 0 })
}

const isShortChange = ({ items }: YAMLMap): boolean => {
  const keys = items.map(({ key }) => (isScalar(key) ? key.value : undefined))
  const texts = items.map(({ value }) => (isScalar(value) ? String(value.value) : '\n'))
  const text = texts.join('')
  return /^(before|after)/.test(String(keys[0])) && text.length < 70 && !text.includes('\n')
}
