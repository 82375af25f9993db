// Compiles the patterns of JSON Schemas to machines that read a text once, however it was chosen. V8's own engine
// backtracks, and takes exponential time for some patterns.

/** The most repetitions of one pattern: `{1,1000}` is a thousand. */
const MAX_STATES = 2000
const MAX_DEPTH = 50

/** Takes what a piece of work costs from what a validation may cost; false: nothing is left. */
export type Spend = (cost: number) => boolean

export interface LinearPattern {
  readonly states: number
  /** Whether the pattern matches anywhere in the text; false also when nothing is left to spend. */
  readonly matches: (text: string, spend: Spend) => boolean
}

type State =
  | { readonly kind: 'character'; readonly accepts: (point: number) => boolean; next: number }
  | { readonly kind: 'split'; next: number; other: number }
  | { readonly kind: 'begin' | 'end'; next: number }
  | { readonly kind: 'match' }

/** The part of a machine from `start`; `exit` is the state whose `next` is set to what follows. */
type Node =
  | { readonly kind: 'character'; readonly accepts: (point: number) => boolean }
  | { readonly kind: 'begin' | 'end' }
  | { readonly kind: 'all'; readonly nodes: readonly Node[] }
  | { readonly kind: 'any'; readonly nodes: readonly Node[] }
  | { readonly kind: 'repeat'; readonly node: Node; readonly least: number; readonly most: number }

class PatternProblem extends Error {}

/**
 * The machine of a pattern of ECMA-262 with the flag `u`; a text: why there is none.
 * @example compilePattern('^[A-Z]-[0-9]+$')
 */
export const compilePattern = (source: string): LinearPattern | string => {
  try {
    RegExp(source, 'u')
  } catch {
    return 'this is no regular expression of ECMA-262 (with the flag u)'
  }
  try {
    const states = toStates(new PatternParser(source).parse())
    return { states: states.length, matches: (text, spend) => run(states, text, spend) }
  } catch (cause) {
    if (cause instanceof PatternProblem) return cause.message
    throw cause
  }
}

const QUANTIFIER = /^(?:[*+?]|\{(\d+)(,(\d*))?\})/
/** An escape that stands for one character: all of them but back references and word boundaries. */
const ESCAPE =
  /^\\(?:[dDsSwW]|[pP]\{[^}]*\}|u\{[0-9a-fA-F]+\}|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z]|0|[^1-9kbB])/u

class PatternParser {
  readonly #source: string
  #at = 0

  constructor(source: string) {
    this.#source = source
  }

  parse(): Node {
    return this.#alternatives(0)
  }

  #alternatives(depth: number): Node {
    if (depth > MAX_DEPTH) throw new PatternProblem(`groups are nested more than ${MAX_DEPTH} deep`)
    const nodes = [this.#sequence(depth)]
    while (this.#take('|')) nodes.push(this.#sequence(depth))
    return nodes.length === 1 && nodes[0] ? nodes[0] : { kind: 'any', nodes }
  }

  #sequence(depth: number): Node {
    const nodes: Node[] = []
    while (this.#at < this.#source.length && !/^[|)]/.test(this.#rest(1))) {
      const node = this.#term(depth)
      nodes.push(this.#quantified(node))
    }
    return { kind: 'all', nodes }
  }

  #quantified(node: Node): Node {
    const [text, least, range, most] = QUANTIFIER.exec(this.#rest(32)) ?? []
    if (text === undefined) return node
    this.#at += text.length
    // Whether it is greedy makes no difference to whether it matches.
    this.#take('?')
    if (text === '*') return { kind: 'repeat', node, least: 0, most: Infinity }
    if (text === '+') return { kind: 'repeat', node, least: 1, most: Infinity }
    if (text === '?') return { kind: 'repeat', node, least: 0, most: 1 }
    const from = Number(least)
    const to = range === undefined ? from : most === '' ? Infinity : Number(most)
    return { kind: 'repeat', node, least: from, most: to }
  }

  #term(depth: number): Node {
    if (this.#take('^')) return { kind: 'begin' }
    if (this.#take('$')) return { kind: 'end' }
    if (this.#take('(')) {
      if (this.#rest(1) === '?') this.#passGroupHead()
      const node = this.#alternatives(depth + 1)
      this.#take(')')
      return node
    }
    const text = this.#rest(1) === '[' ? this.#class() : this.#character()
    return { kind: 'character', accepts: characterTest(text) }
  }

  #passGroupHead(): void {
    const head = /^\?(?::|<[^=!>][^>]*>)/.exec(this.#source.slice(this.#at))?.[0]
    if (head === undefined)
      throw new PatternProblem(
        'lookahead, lookbehind and modifiers cannot be checked in linear time: write the pattern without (?=, (?!, (?<=, (?<! and flags',
      )
    this.#at += head.length
  }

  #class(): string {
    const from = this.#at
    for (this.#at += 1; this.#source[this.#at] !== ']'; this.#at += 1)
      if (this.#source[this.#at] === '\\') this.#at += 1
    this.#at += 1
    return this.#source.slice(from, this.#at)
  }

  #character(): string {
    const rest = this.#source.slice(this.#at)
    const text = rest.startsWith('\\')
      ? ESCAPE.exec(rest)?.[0]
      : String.fromCodePoint(rest.codePointAt(0) ?? 0)
    if (text === undefined)
      throw new PatternProblem(
        'back references and word boundaries (\\1, \\k, \\b, \\B) cannot be checked in linear time: write the pattern without',
      )
    this.#at += text.length
    return text
  }

  #take(character: string): boolean {
    if (this.#source[this.#at] !== character) return false
    this.#at += 1
    return true
  }

  #rest(length: number): string {
    return this.#source.slice(this.#at, this.#at + length)
  }
}

const ASCII = 128

/** One character is all that V8 gets to see, so it has nothing to backtrack over. */
const characterTest = (source: string): ((point: number) => boolean) => {
  const pattern = new RegExp(`^${source}$`, 'u')
  const known: (boolean | undefined)[] = []
  return (point) =>
    point < ASCII
      ? (known[point] ??= pattern.test(String.fromCharCode(point)))
      : pattern.test(String.fromCodePoint(point))
}

/** From the end of the machine to its begin: each part is built with the state that follows it. */
const toStates = (root: Node): readonly State[] => {
  const states: State[] = []
  const add = (state: State): number => {
    if (states.length >= MAX_STATES)
      throw new PatternProblem(
        `the pattern stands for more than ${MAX_STATES} characters: repetitions such as {1,1000} count each time`,
      )
    return states.push(state) - 1
  }
  const build = (node: Node, next: number): number => {
    switch (node.kind) {
      case 'character':
        return add({ kind: 'character', accepts: node.accepts, next })
      case 'begin':
      case 'end':
        return add({ kind: node.kind, next })
      case 'all':
        return node.nodes.reduceRight((following, each) => build(each, following), next)
      case 'any':
        return node.nodes
          .map((each) => build(each, next))
          .reduceRight((other, first) => add({ kind: 'split', next: first, other }))
      case 'repeat':
        return buildRepeat(node, next)
    }
  }
  const buildRepeat = (
    { node, least, most }: Extract<Node, { readonly kind: 'repeat' }>,
    next: number,
  ): number => {
    let start = next
    if (most === Infinity) {
      const loop: State = { kind: 'split', next: 0, other: next }
      start = add(loop)
      loop.next = build(node, start)
    } else
      for (let left = most - least; left > 0; left--)
        start = add({ kind: 'split', next: build(node, start), other: next })
    for (let left = least; left > 0; left--) {
      const before = states.length
      start = build(node, start)
      // `(){9999999}` adds nothing, however often it is repeated.
      if (states.length === before) break
    }
    return start
  }
  const end = add({ kind: 'match' })
  const start = build(root, end)
  // The last state is where the machine begins.
  add({ kind: 'split', next: start, other: start })
  return states
}

/** All states at once that the machine can be in, character by character. */
const run = (states: readonly State[], text: string, spend: Spend): boolean => {
  const machine = new Machine(states)
  let position = 0
  for (const character of text) {
    if (!spend(machine.begin(position === 0, false))) return false
    if (machine.isMatch) return true
    machine.read(character.codePointAt(0) ?? 0)
    position += character.length
  }
  spend(machine.begin(position === 0, true))
  return machine.isMatch
}

class Machine {
  isMatch = false
  readonly #states: readonly State[]
  /** State → the character that it was last reached at. */
  readonly #reached: Uint32Array
  #character = 0
  #active: number[] = []
  #from: number[] = []

  constructor(states: readonly State[]) {
    this.#states = states
    this.#reached = new Uint32Array(states.length)
  }

  /** Follows what takes no character. A match may begin at each one. @returns how many states were looked at */
  begin(isBegin: boolean, isEnd: boolean): number {
    this.#character += 1
    const active: number[] = []
    const pending = [this.#states.length - 1, ...this.#from]
    let looked = 0
    for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
      if (this.#reached[at] === this.#character) continue
      this.#reached[at] = this.#character
      looked += 1
      const state = this.#states[at]
      if (state === undefined) continue
      if (state.kind === 'match') this.isMatch = true
      else if (state.kind === 'character') active.push(at)
      else if (state.kind === 'split') pending.push(state.other, state.next)
      else if (state.kind === 'begin' ? isBegin : isEnd) pending.push(state.next)
    }
    this.#active = active
    return looked
  }

  read(point: number): void {
    this.#from = []
    for (const at of this.#active) {
      const state = this.#states[at]
      if (state?.kind === 'character' && state.accepts(point)) this.#from.push(state.next)
    }
  }
}
