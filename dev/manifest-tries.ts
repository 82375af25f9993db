// Reads from the comments of an example manifest its title, the commands to try with what they must print, and the
// pages to open. Reads comments only.

export interface ManifestTries {
  /** The first comment, without its full stop; empty where there is none. */
  readonly title: string
  readonly tries: readonly Try[]
  /** For a browser. */
  readonly pages: readonly string[]
}

export interface Try {
  /** A line for a shell. */
  readonly command: string
  /** Status and parts of the response in order, `…` between them; empty where the comment has none. */
  readonly expected: string
}

/**
 * A command is a comment line, indented, that holds `curl `; the line after it may be `-> 200 … part`. A page is
 * an indented line that is a URL.
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
  const pages = comments.flatMap((comment) => /^ +(https?:\S+)$/.exec(comment ?? '')?.[1] ?? [])
  return { title: title.replace(/\.$/, ''), tries, pages }
}
