// What the route table must answer, the slow and plain way: every route of every document is tried.

import type { HostPattern } from '../../../language/routes/host-pattern.ts'
import type { PathStep } from '../../../language/routes/mixed-segment.ts'
import type { PathPattern } from '../../../language/routes/path-pattern.ts'
import type { RouteSet } from '../../../language/router/route.ts'

export type MatchResult = 'malformed' | undefined | Served

interface Served {
  readonly targets: readonly string[]
  readonly captures: readonly string[]
  readonly hostCaptures: readonly string[]
}

interface Fit {
  readonly served: { readonly target: string; readonly captures: readonly string[] }
  readonly hostCaptures: readonly string[]
  /** Smaller is first: literal `0`, text around bindings `1`, one of any text `2`, tail `3`, position by position. */
  readonly kinds: string
  readonly hostKinds: string
  readonly specificity: number
  readonly order: readonly (number | string)[]
}

export function naiveMatch(
  sets: readonly RouteSet<string>[],
  host: string,
  path: string,
): MatchResult {
  const segments = segmentsOf(path)
  if (segments === 'malformed') return 'malformed'
  if (segments.some((segment) => ['', '.', '..'].includes(segment))) return undefined
  const fits = sets.flatMap((set) => fitsOf(set, labelsOf(host), segments))
  const specificity = Math.max(...fits.map((fit) => fit.specificity))
  const onHosts = Map.groupBy(
    fits.filter((fit) => fit.specificity === specificity),
    (fit) => fit.hostKinds,
  )
  const perHost = [...onHosts.values()].map(bestPlace)
  const [best] = perHost.sort((a, b) => compare(documentOrder(a), documentOrder(b)))
  return (
    best?.[0] && {
      targets: best.map((fit) => fit.served.target),
      captures: best[0].served.captures,
      hostCaptures: best[0].hostCaptures,
    }
  )
}

function bestPlace(fits: readonly Fit[]): readonly Fit[] {
  const kinds = fits.map((fit) => fit.kinds).sort()[0]
  return fits.filter((fit) => fit.kinds === kinds).sort((a, b) => compare(a.order, b.order))
}

/** Of equally specific hosts the oldest document; of one document's the one literal further right. */
const documentOrder = (fits: readonly Fit[]): readonly (number | string)[] => [
  ...(fits[0]?.order.slice(2, 5) ?? []),
  fits[0]?.hostKinds ?? '',
]

function fitsOf(
  set: RouteSet<string>,
  labels: readonly string[],
  segments: readonly string[],
): readonly Fit[] {
  return set.hosts.flatMap((host) =>
    set.routes.flatMap((route, index) =>
      route.patterns.flatMap((pattern): Fit[] => {
        const hostCaptures = fitHost(host, labels)
        const captures = fitPath(pattern, segments)
        if (hostCaptures === undefined || captures === undefined) return []
        const shape = route.patterns.map((way) => JSON.stringify([way.segments, way.tail])).join()
        const brackets = route.patterns.length > 1 ? 1 : 0
        return [
          {
            served: { target: route.target, captures },
            hostCaptures,
            kinds: kindsOf(pattern.segments) + (pattern.tail ? '3' : ''),
            hostKinds: kindsOf(host.labels.toReversed()),
            specificity:
              2 * host.labels.filter((label) => label !== null).length + (host.tail ? 0 : 1),
            order: [pattern.optional, brackets, set.rank, set.since, set.id, shape, index],
          },
        ]
      }),
    ),
  )
}

const kindsOf = (steps: readonly PathStep[]): string => steps.map(kindOf).join('')

const kindOf = (step: PathStep): string => {
  if (step === null) return '2'
  return typeof step === 'string' ? '0' : `1${rankOf(step)}`
}

/** Longer texts first: all of them, that at the beginning, that at the end. */
const rankOf = (texts: readonly string[]): string =>
  [texts.join(''), texts[0] ?? '', texts.at(-1) ?? '']
    .map((text) => String(999 - text.length))
    .concat(texts.join('\0'))
    .join()

function fitHost(host: HostPattern, labels: readonly string[]): readonly string[] | undefined {
  const extra = labels.length - host.labels.length
  if (extra < 0 || (extra > 0 && !host.tail)) return undefined
  const own = labels.slice(extra)
  const fits = host.labels.every((label, at) =>
    label === null ? own[at] !== '' : label === own[at],
  )
  return fits ? own.filter((_, at) => host.labels[at] === null) : undefined
}

function fitPath(pattern: PathPattern, segments: readonly string[]): readonly string[] | undefined {
  const extra = segments.length - pattern.segments.length
  if (extra < 0 || (extra > 0 && !pattern.tail)) return undefined
  const captures = pattern.segments.map((step, at) => fitStep(step, segments[at] ?? ''))
  return captures.every((captured) => captured !== undefined) ? captures.flat() : undefined
}

function fitStep(step: PathStep, segment: string): readonly string[] | undefined {
  if (typeof step === 'string') return step === segment ? [] : undefined
  const texts = (step ?? ['', '']).map((text) => text.replaceAll(/[^\w]/g, String.raw`\$&`))
  return new RegExp(`^${texts.join('(.+?)')}$`, 's').exec(segment)?.slice(1)
}

function segmentsOf(path: string): readonly string[] | 'malformed' {
  const raw = path.slice(1).split('/')
  if (raw.at(-1) === '') raw.pop()
  try {
    return raw.map((segment) => decodeURIComponent(segment))
  } catch {
    return 'malformed'
  }
}

function labelsOf(host: string): readonly string[] {
  const name = host.toLowerCase().replace(/:\d*$/, '').replace(/^\./, '').replace(/\.$/, '')
  return name.includes('..') || name === '' || name.startsWith('.') || name.endsWith('.')
    ? ['']
    : name.split('.')
}

function compare(a: readonly (number | string)[], b: readonly (number | string)[]): number {
  const at = a.findIndex((value, index) => value !== b[index])
  return at === -1 ? 0 : (a[at] ?? 0) < (b[at] ?? 0) ? -1 : 1
}
