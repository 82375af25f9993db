// The text of an example manifest in; its title and the commands that its comments tell one to try, with
// what must come back, out. Reads comments only.

export interface ManifestTries {
  /** The first comment, without its full stop; empty where there is none. */
  readonly title: string
  readonly tries: readonly Try[]
}

export interface Try {
  /** A line for a shell. */
  readonly command: string
  /** Status and parts of the answer in their order, `…` between them; empty where the comment has none. */
  readonly expected: string
}

/**
 * A command is a comment line, indented, that holds `curl `; the line after it may be `-> 200 … part`.
 * @example readTries('# Says hello.\n#\n#   curl -i http://a/\n#   -> 200 … hello\n')
 */
export const readTries = (text: string): ManifestTries => {
  const comments = text.split('\n').map((line) => /^# ?(.*)$/.exec(line)?.[1])
  const title = comments.find((comment) => comment !== undefined) ?? ''
  const tries: Try[] = []
  comments.forEach((comment, i) => {
    const command = /^ +((?:.* )?curl .*)$/.exec(comment ?? '')?.[1]
    if (command === undefined) return
    const expected = /^ +-> (.*)$/.exec(comments[i + 1] ?? '')?.[1] ?? ''
    tries.push({ command, expected })
  })
  return { title: title.replace(/\.$/, ''), tries }
}
