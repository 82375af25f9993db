// Splits bytes into lines as they arrive. A piece may end anywhere, also within a character; a line must end with a
// line feed and has a bound. Never drops a byte silently.

export interface LineReader {
  /** The lines that end in `piece`, without their ends; empty ones are left out. */
  push(piece: Uint8Array): readonly string[]
  /** Whether bytes are left that no line feed has followed. */
  readonly hasRest: boolean
}

const NEWLINE = 0x0a

/**
 * @throws RangeError from `push` where a line is longer than `maxBytes`; TypeError where it is not UTF-8
 * @example createLineReader(1024).push(Buffer.from('a\nb')) // ['a']
 */
export const createLineReader = (maxBytes: number): LineReader => {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let rest: Uint8Array[] = []
  let restBytes = 0

  const take = (last: Uint8Array): string => {
    const bytes = rest.length === 0 ? last : Buffer.concat([...rest, last])
    rest = []
    restBytes = 0
    return decoder.decode(bytes)
  }

  const check = (bytes: number): void => {
    if (bytes > maxBytes) throw new RangeError(`a line is longer than ${maxBytes} bytes`)
  }

  return {
    push: (piece) => {
      const lines: string[] = []
      let from = 0
      for (;;) {
        const end = piece.indexOf(NEWLINE, from)
        if (end === -1) break
        check(restBytes + end - from)
        const line = take(piece.subarray(from, end))
        if (line.trim() !== '') lines.push(line)
        from = end + 1
      }
      if (from < piece.length) {
        check(restBytes + piece.length - from)
        rest.push(piece.subarray(from))
        restBytes += piece.length - from
      }
      return lines
    },
    get hasRest() {
      return restBytes > 0
    },
  }
}
