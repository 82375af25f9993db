// Compares what there is with what will be, member by member, and says what each difference means. Pure.

import { WEB_SOCKET_ACTION } from '../../language/explain/list-routes.ts'
import { ownValue } from '../../language/expression/lookup.ts'
import { mapAt, textAt } from '../../language/expression/members.ts'
import { isMap, type Value, type ValueMap } from '../../language/expression/value.ts'
import { isSameValue } from '../../operator/resource/same-value.ts'
import { effectsOf, type MemberChange, WHOLE } from './effects.ts'
import type { Effect, Entry } from './entry.ts'
import { isOpen } from './security-effects.ts'

export interface Change {
  readonly type: 'added' | 'removed' | 'changed'
  readonly kind: Entry['kind']
  readonly name: string
  readonly at: string
  readonly effects: readonly Effect[]
  readonly summary: string
  /** Changes of what is on both sides. */
  readonly differences: readonly Difference[]
}

export interface Difference {
  /** `limits.timeout` */
  readonly what: string
  /** Left out: there is none, or it is not shown. */
  readonly before?: Value
  readonly after?: Value
  /** They differ in what people may not see. */
  readonly isHidden?: true
  readonly effects: readonly Effect[]
}

/** @example compare(entriesOf(served), entriesOf(wanted)) // [{ type: 'added', kind: 'route', … }] */
export const compare = (before: readonly Entry[], after: readonly Entry[]): readonly Change[] => {
  const [left, right] = [byKey(before), byKey(after)]
  const guarded = new Set(after.filter(isGuarded).map(documentOf))
  const changes: Change[] = []
  for (const [key, entry] of right) {
    const earlier = left.get(key)
    // A way past the credentials of the paths beside it, even where it is new.
    const isPast = isOpenWebSocket(entry) && guarded.has(documentOf(entry))
    if (earlier === undefined) {
      if (entry.kind !== 'version')
        changes.push(changeOf('added', entry, [isPast ? 'loosened' : 'changed']))
      continue
    }
    const differences = differencesOf(earlier, entry)
    if (differences.length === 0) continue
    const effects = new Set(differences.flatMap((each) => each.effects))
    changes.push(changeOf('changed', entry, [...effects], differences))
  }
  for (const [key, entry] of left)
    if (!right.has(key) && entry.kind !== 'version')
      changes.push(changeOf('removed', entry, ['breaking']))
  return changes.toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1))
}

const changeOf = (
  type: Change['type'],
  { kind, name, at, summary }: Entry,
  effects: readonly Effect[],
  differences: readonly Difference[] = [],
): Change => ({ type, kind, name, at, effects, summary, differences })

const byKey = (entries: readonly Entry[]): ReadonlyMap<string, Entry> =>
  new Map(entries.map((entry) => [`${entry.kind}\n${entry.key}`, entry]))

const KINDS: readonly Entry['kind'][] = ['host', 'realm', 'secret', 'version', 'route']

/** Routes by their path, not by their method. */
const orderOf = ({ kind, name }: Change): string =>
  `${KINDS.indexOf(kind)} ${kind === 'route' ? name.replace(/^(\S+) (.*)$/s, '$2 $1') : name}`

const isGuarded = ({ kind, full }: Entry): boolean => kind === 'route' && !isOpen(full['security'])

const isOpenWebSocket = ({ full }: Entry): boolean =>
  textAt(mapAt(full, 'action'), 'type') === WEB_SOCKET_ACTION && isOpen(full['security'])

const documentOf = ({ full }: Entry): string => textAt(full, 'document')

const differencesOf = (before: Entry, after: Entry): readonly Difference[] => {
  const sides = { left: before.full, right: after.full }
  return changesWithin([], before.full, after.full).map((change) => ({
    what: change.path.join('.'),
    ...shownOf(change.path, before.shown, after.shown),
    effects: effectsOf(after.kind, change, sides),
  }))
}

const changesWithin = (
  path: readonly string[],
  before: Value | undefined,
  after: Value | undefined,
): readonly MemberChange[] => {
  if (isSameValue(before, after)) return []
  const isWhole = path.length === 1 && WHOLE.has(path[0] ?? '')
  if (isWhole || before === undefined || after === undefined || !isMap(before) || !isMap(after))
    return [{ path, before, after }]
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return names.flatMap((name) =>
    changesWithin([...path, name], ownValue(before, name), ownValue(after, name)),
  )
}

const shownOf = (
  path: readonly string[],
  left: ValueMap,
  right: ValueMap,
): Pick<Difference, 'before' | 'after' | 'isHidden'> => {
  const [before, after] = [valueAt(left, path), valueAt(right, path)]
  if (isSameValue(before, after)) return { isHidden: true }
  return { ...(before !== undefined && { before }), ...(after !== undefined && { after }) }
}

const valueAt = (map: ValueMap, path: readonly string[]): Value | undefined => {
  let value: Value | undefined = map
  for (const name of path)
    value = value !== undefined && isMap(value) ? ownValue(value, name) : undefined
  return value
}
