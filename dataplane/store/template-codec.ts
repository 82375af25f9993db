// Encodes templates as small JSON and decodes them: `["r","request","body","name"]` is a read. This takes a third of
// the size of the templates themselves as JSON; there are hundreds of thousands of them.

import type { PipeArgument, PipeCall, Root, Template } from '../../language/expression/template.ts'
import type { Value } from '../../language/expression/value.ts'

/** `s`: the n-th value that several places share. */
export type Encoded =
  | readonly ['c', Value]
  | readonly ['s', number]
  | readonly ['_']
  | readonly ['r', Root, ...string[]]
  | readonly ['l', ...Encoded[]]
  | readonly ['t', ...(string | Encoded)[]]
  | readonly ['m', ...(string | Encoded)[]]
  | readonly ['p', string, Encoded, ...(readonly [name: string, ...args: Encoded[]])[]]

/** Before the name of a function that takes headers. */
const OF_HEADERS = '^'

/** @param share the number of a shared value; undefined for a value that is written in place */
export const encodeTemplate = (
  template: PipeArgument,
  share: (template: Template) => number | undefined,
): Encoded => {
  if (template.kind === 'piped') return ['_']
  const index = share(template)
  return index === undefined ? encodeParts(template, share) : ['s', index]
}

/** The template with its parts encoded, as in the table of shared values. */
export const encodeParts = (
  template: Template,
  share: (template: Template) => number | undefined,
): Encoded => {
  const encode = (part: PipeArgument): Encoded => encodeTemplate(part, share)
  switch (template.kind) {
    case 'constant':
      return ['c', template.value]
    case 'read':
      return ['r', template.root, ...template.keys]
    case 'list':
      return ['l', ...template.items.map(encode)]
    case 'text':
      return [
        't',
        ...template.parts.map((part) => (typeof part === 'string' ? part : encode(part))),
      ]
    case 'map':
      return ['m', ...template.entries.flatMap(([key, value]) => [key, encode(value)])]
    case 'pipe':
      return [
        'p',
        template.source,
        encode(template.input),
        ...template.calls.map(
          ({ name, args, ofHeaders }) =>
            [ofHeaders === true ? OF_HEADERS + name : name, ...args.map(encode)] as const,
        ),
      ]
  }
}

/** The inverse. @param shared returns a shared value, decoded once */
export const decodeTemplate = (encoded: Encoded, shared: (index: number) => Template): Template => {
  const decode = (part: Encoded): Template => decodeTemplate(part, shared)
  switch (encoded[0]) {
    case 'c':
      return { kind: 'constant', value: encoded[1] }
    case 's':
      return shared(encoded[1])
    // `slice` creates lists of the exact size; a rest pattern leaves room for 17, in each of ten reads.
    case 'r':
      return { kind: 'read', root: encoded[1], keys: encoded.slice(2) }
    case 'l':
      return { kind: 'list', items: (encoded.slice(1) as readonly Encoded[]).map(decode) }
    case 't': {
      const parts = encoded.slice(1) as readonly (string | Encoded)[]
      return {
        kind: 'text',
        parts: parts.map((part) => (typeof part === 'string' ? part : decode(part))),
      }
    }
    case 'm':
      return { kind: 'map', entries: decodeEntries(encoded.slice(1), decode).slice() }
    case 'p': {
      const [, source, input, ...calls] = encoded
      return { kind: 'pipe', input: decode(input), calls: calls.map(decodeCall(decode)), source }
    }
    case '_':
      throw new Error('a packed document is damaged: it has a piped map outside of a call')
  }
}

const decodeEntries = (
  flat: readonly (string | Encoded)[],
  decode: (part: Encoded) => Template,
): (readonly [string, Template])[] => {
  const entries: (readonly [string, Template])[] = []
  for (let index = 0; index + 1 < flat.length; index += 2)
    entries.push([flat[index] as string, decode(flat[index + 1] as Encoded)])
  return entries
}

const decodeCall =
  (decode: (part: Encoded) => Template) =>
  ([written, ...parts]: readonly [string, ...Encoded[]]): PipeCall => {
    const args = parts.map((arg): PipeArgument =>
      arg[0] === '_' ? { kind: 'piped' } : decode(arg),
    )
    return written.startsWith(OF_HEADERS)
      ? { name: written.slice(OF_HEADERS.length), args, ofHeaders: true }
      : { name: written, args }
  }
