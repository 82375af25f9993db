// What must hold of values that a reader made of bytes, for targets of the fuzzer. Recurses nowhere: values may be as
// deep as a reader takes them.

/** @throws Error where values, texts and bytes together are more than the bytes they were read from */
export const expectBounded = (value: unknown, inputBytes: number): void => {
  let weight = 0
  const open: unknown[] = [value]
  while (open.length > 0) {
    const next = open.pop()
    weight += 1 + ownWeight(next)
    if (typeof next !== 'object' || next === null || next instanceof Uint8Array) continue
    if (Array.isArray(next)) for (const item of next) open.push(item)
    else for (const [key, member] of Object.entries(next)) open.push(key, member)
  }
  if (weight > inputBytes) throw new Error(`${inputBytes} bytes become a value of ${weight}`)
}

const ownWeight = (value: unknown): number =>
  typeof value === 'string' || value instanceof Uint8Array ? value.length : 0

/** @throws Error where they are not the same, but for the order of members and the types of numbers */
export const expectSame = (other: unknown, value: unknown, what: string): void => {
  const open: [unknown, unknown][] = [[other, value]]
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    const children = childPairs(...pair)
    if (children === undefined)
      throw new Error(`${what} is another value: ${shown(pair[0])} instead of ${shown(pair[1])}`)
    open.push(...children)
  }
}

/** Undefined: they differ themselves. */
const childPairs = (a: unknown, b: unknown): [unknown, unknown][] | undefined => {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null)
    return isSameScalar(a, b) ? [] : undefined
  if (a instanceof Uint8Array || b instanceof Uint8Array) return areSameBytes(a, b) ? [] : undefined
  return Array.isArray(a) === Array.isArray(b) ? memberPairs(a, b) : undefined
}

/** Libraries have BigInts for large integers. */
const isSameScalar = (a: unknown, b: unknown): boolean =>
  a === b ||
  (Number.isNaN(a) && Number.isNaN(b)) ||
  ((typeof a === 'bigint' || typeof b === 'bigint') && Number(a) === Number(b))

const areSameBytes = (a: object, b: object): boolean =>
  a instanceof Uint8Array && b instanceof Uint8Array && Buffer.compare(a, b) === 0

const memberPairs = (a: object, b: object): [unknown, unknown][] | undefined => {
  const [left, right] = [a, b] as [Record<string, unknown>, Record<string, unknown>]
  const keys = Object.keys(left)
  if (keys.length !== Object.keys(right).length) return undefined
  if (keys.some((key) => !Object.hasOwn(right, key))) return undefined
  return keys.map((key) => [left[key], right[key]])
}

const shown = (value: unknown): string =>
  typeof value === 'object' && value !== null
    ? Object.prototype.toString.call(value)
    : `${typeof value} ${String(value).slice(0, 40)}`
