// Finds segments of paths that are written as other gateways write a binding, a tail or a regular expression, and says
// what to write in their place: in the pattern of a path, and in the path that a request is forwarded to.

import { splitAtBindings } from '../routes/mixed-segment.ts'

/** What stands in a path, and what to write in its place, as the end of a sentence. */
export interface LiteralSegment {
  readonly segment: string
  readonly remedy: string
}

/** Where a pattern stands: only a path ends in a tail. */
export type PatternPlace = 'path' | 'base_path'

/**
 * The first such segment of a path pattern, whether the pattern is valid or not.
 * @example literalSegment('/orders/{id}') // { segment: '{id}', remedy: "':id' for a segment of any value" }
 */
export const literalSegment = (
  pattern: string,
  place: PatternPlace = 'path',
): LiteralSegment | undefined => {
  const segments = segmentsOf(pattern)
  for (const [index, segment] of segments.entries()) {
    const remedy = remedyFor(segment, place === 'path' && index === segments.length - 1)
    if (remedy !== undefined) return { segment, remedy }
  }
  return undefined
}

/**
 * The same of a path to an upstream, where only names that the path binds are looked for.
 * @example literalBinding('/v2/orders/:id', ['id'])?.message // "':id' is sent as it stands: write {{request.bindings.id}}"
 */
export const literalBinding = (
  path: string,
  bindings: readonly string[],
): { readonly segment: string; readonly message: string } | undefined => {
  for (const segment of segmentsOf(path)) {
    const name = bindings.find((bound) => isWrittenIn(segment, bound))
    if (name !== undefined)
      return {
        segment,
        message: `'${segment}' is sent as it stands: write {{request.bindings.${name}}}`,
      }
  }
  return undefined
}

const isWrittenIn = (segment: string, name: string): boolean =>
  [`{${name}}`, `<${name}>`, `:${name}>`].some((written) => segment.includes(written)) ||
  ([`:${name}`, `{${name}`].some((written) => segment.startsWith(written)) &&
    !/^[\w-]/.test(segment.slice(name.length + 1)))

/** Longer ones are not such. */
const MAX_SEGMENT = 80

const segmentsOf = (path: string): readonly string[] =>
  path.split('/').filter((segment) => segment !== '' && segment.length <= MAX_SEGMENT)

const remedyFor = (segment: string, isEnd: boolean): string | undefined => {
  const text = segment.replaceAll(/^\[+|\]+$/g, '')
  if (/^:[\w-]+$/.test(text)) return undefined
  for (const [form, remedy] of FORMS) {
    const match = form.exec(text)
    if (match === null) continue
    const name = match.slice(1).find(isName) ?? 'name'
    return remedy === rest && !isEnd ? one(name) : remedy(name, text)
  }
  return undefined
}

const isName = (text: string | undefined): text is string =>
  text !== undefined && /^[\w-]+$/.test(text)

const optional = (name: string): string => `'[:${name}]' for a segment that may be missing`
const rest = (): string => "'[...rest]' at the end for any further segments, or ':name' for one"
const one = (name: string): string => `':${name}' for a segment of any value`

/** Text may stand beside a binding, but no letter right before it. */
const beside = (name: string, text: string): string => {
  const written = text
    .replaceAll(/\{([\w-]+)(?:[:=][^{}]*)?\}|<(?:[^<>]*:)?([\w-]+)>/g, ':$1$2')
    .replace(/\((['"]?)([a-z][\w-]*)\1\)$/i, '($1:$2$1)')
  return splitAtBindings(written).names.includes(name)
    ? `'${written}'`
    : `a binding as a whole segment, such as ':${name}'`
}

const noRegularExpression = (name: string): string =>
  `':${name}' for a segment of any value: there are no regular expressions`

/** The first that fits counts; its first group that is a name goes into the remedy. Names in HTTP clients are ASCII. */
const FORMS: readonly (readonly [RegExp, (name: string, text: string) => string])[] = [
  // :id?  {id?}
  [/^:([\w-]+)\?$/, optional],
  [/^\{([\w-]+)\?\}$/, optional],
  // *  **  *rest
  [/^\*/, rest],
  // :rest*  :rest+  :rest(.*)  :rest{.+}
  [/^:[\w-]+(?:[*+]|[({]\.[*+]\??[)}][*+?]?)$/, rest],
  // {*rest}  {rest+}  {rest...}  {rest=**}  {rest:.*}  {rest:path}  <path:rest>
  [/^[{<]\*|^[{<]path:|^\{[\w-]+(?:[*+]|\.\.\.|=\*\*|:(?:\.[*+]|path))\}$/, rest],
  // .*  (.*)  (?<rest>.*)
  [/^(?:\((?:\?P?<\w+>)?)?\.[*+]\??\)?\$?$/, rest],
  // {id}  {id:int}  {id:\d{4}}  {name=*}  <id>  <int:id>
  [/^\{([^{}:=]+)(?:[:=](?:[^{}]|\{[\d,]*\})*)?\}$/, one],
  [/^<(?:(?:[^<>:]*:)*([\w-]+)|([^<>:]+):[^<>]*)>$/, one],
  // :id(\d+)  :id{[0-9]+}  :id<int>  (\d+)  (?<id>\d+)  \d+  ^orders$
  [/^:([\w-]+)[({<].*[)}>]$/, noRegularExpression],
  [/^\(\?P?<([\w-]+)>|^\(\[|^\^|\\|\.[*+]/, noRegularExpression],
  // Products({id})  {id}.json  {lat},{lon}  <id>.json  {name=shelves/*}
  [/\{([\w-]+)(?:[:=][^{}]*)?\}|<([\w-]+)>|^\{([\w-]+)[:=]/, beside],
  // Products(key)  Products('key')
  [/^(?:\w*[a-z\d])?\(['"]?([a-z][\w-]*)['"]?\)$/i, beside],
]
