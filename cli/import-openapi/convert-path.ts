// Turns a path template of OpenAPI into a path of documents, with the names of its bindings.

import { keyOf, parsePath } from '../../language/routes/path-pattern.ts'

export interface ConvertedPath {
  readonly path: string
  /** The same for paths that match the same requests. */
  readonly key: string
  /** Name of the parameter → name of the binding. */
  readonly bindings: ReadonlyMap<string, string>
}

/** @example convertPath('/orders/{id}.json') // { path: '/orders/:id.json', … }; a text: why there is none */
export const convertPath = (template: string): ConvertedPath | string => {
  if (template === '/') return { path: '/[index]', key: keyOf('/[index]'), bindings: new Map() }
  const bindings = new Map<string, string>()
  let path = ''
  let end = 0
  for (const { 0: tag, 1: name = '', index } of template.matchAll(/\{([^{}/]+)\}/g)) {
    if (bindings.has(name)) return `the parameter ${name} stands twice in it`
    const binding = bindingName(name, new Set(bindings.values()))
    bindings.set(name, binding)
    path += `${literal(template.slice(end, index), end > 0)}:${binding}`
    end = index + tag.length
  }
  path += literal(template.slice(end), end > 0)
  const parsed = parsePath(path)
  if (!parsed.ok) return parsed.message
  const found = parsed.patterns.length === 1 ? parsed.patterns[0]?.bindings : undefined
  if (found?.join() !== [...bindings.values()].join())
    return 'a parameter stands right behind a letter or another parameter'
  return { path, key: keyOf(path), bindings }
}

const bindingName = (name: string, taken: ReadonlySet<string>): string => {
  const plain = name.replaceAll(/[^\w-]/g, '_').replaceAll(/^-+|-+$/g, '')
  const base = /^_*$/.test(plain) ? 'parameter' : plain.replaceAll(/--+/g, '-')
  let binding = base
  for (let count = 2; taken.has(binding); count++) binding = `${base}_${count}`
  return binding
}

/** What would be part of the name, or of a pattern, is percent-encoded. */
const literal = (text: string, isBehindBinding: boolean): string => {
  const escaped = text
    .replaceAll(/[[\]{}]/g, encodeURIComponent)
    .replaceAll(/(?<![\w])(?!^):/g, '%3A')
    .replace(/^:/, isBehindBinding ? ':' : '%3A')
  return isBehindBinding ? escaped.replace(/^[\w(<*+?-]/, encodeFirst) : escaped
}

const encodeFirst = (character: string): string =>
  `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
