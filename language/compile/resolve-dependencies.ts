// Resolves entries that depend on each other by name, in any order. It uses a worklist instead of recursion, so that a chain
// of ten thousand does not overflow the stack.

interface Frame {
  readonly name: string
  /** Entries that it needs and that were not visited yet. */
  needs: string[]
}

export interface Settling {
  isSettled(name: string): boolean
  /** Resolves `name`, or changes nothing and returns what must be resolved before. */
  attempt(name: string): readonly string[]
  /** Resolves all of these, which form a cycle: the last is the first again. */
  settleCycle(chain: readonly string[]): void
}

/** Resolves all of `names`; an entry that lacked others is attempted again once these are resolved. */
export const settleAll = (names: Iterable<string>, settling: Settling): void => {
  for (const name of names) {
    const needs = settling.isSettled(name) ? [] : settling.attempt(name)
    if (needs.length > 0) settle({ name, needs: [...needs] }, settling)
  }
}

const settle = (start: Frame, settling: Settling): void => {
  const stack: Frame[] = [start]
  /** Name → its place on the stack. */
  const open = new Map([[start.name, 0]])
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const next = top.needs.pop()
    if (next === undefined) {
      if (!settling.isSettled(top.name)) top.needs = [...settling.attempt(top.name)]
      if (top.needs.length > 0) continue
      stack.pop()
      open.delete(top.name)
    } else if (!settling.isSettled(next)) {
      const at = open.get(next)
      if (at === undefined) {
        open.set(next, stack.length)
        stack.push({ name: next, needs: [] })
      } else settling.settleCycle([...stack.slice(at).map(({ name }) => name), next])
    }
  }
}
