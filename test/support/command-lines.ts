// Reads a shell script as far as documentation has them: words, quotes, pipes, redirections, assignments, comments,
// continued lines and command substitution. It runs nothing.

/** Words of one command, its program first. */
export type Words = readonly string[]

/**
 * Every command of a script, those within `$(…)` included.
 * @example commandsOf('A=1 printf %s x | sha256sum >out') // [['printf', '%s', 'x'], ['sha256sum']]
 */
export const commandsOf = (script: string): readonly Words[] => {
  const joined = script.replaceAll('\\\n', ' ')
  const commands = splitCommands(tokensOf(joined)).flatMap((tokens) => {
    const words = withoutAssignments(withoutRedirections(tokens))
    return words.length > 0 ? [words] : []
  })
  return [...substitutionsOf(joined).flatMap(commandsOf), ...commands]
}

interface Token {
  /** Without its quotes. */
  readonly text: string
  /** `|`, `;`, `&`, `>` and the like, not in quotes, and the end of a line. */
  readonly isOperator: boolean
}

const QUOTED = String.raw`'[^']*'|"(?:[^"\\]|\\.)*"`
const TOKEN = new RegExp(
  [
    String.raw`[^\S\n]+|(?<!\S)#[^\n]*`,
    String.raw`(?<operator>\n|\|\||&&|2>&1|&?>>?|2>|<(?!\()|[|;&])`,
    String.raw`(?<word>(?:${QUOTED}|[$<]\([^()]*\)|\\.|[^\s|;&<>'"\\])+)`,
  ].join('|'),
  'gs',
)

const tokensOf = (script: string): readonly Token[] =>
  [...script.matchAll(TOKEN)].flatMap(({ groups: { operator, word } = {} }): readonly Token[] => {
    if (operator !== undefined) return [{ text: operator, isOperator: true }]
    return word === undefined ? [] : [{ text: unquoted(word), isOperator: false }]
  })

const unquoted = (word: string): string =>
  word.replaceAll(new RegExp(`${QUOTED}|\\\\.`, 'gs'), (part) =>
    part.startsWith('\\') ? part.slice(1) : part.slice(1, -1),
  )

/** Nothing is substituted within single quotes. */
const substitutionsOf = (script: string): readonly string[] =>
  [...script.replaceAll(/'[^']*'/g, "''").matchAll(/[$<]\(([^()]*)\)/g)].map(
    ([, inner = '']) => inner,
  )

const splitCommands = (tokens: readonly Token[]): readonly (readonly Token[])[] => {
  const commands: Token[][] = [[]]
  for (const token of tokens)
    if (token.isOperator && /^(?:\n|\|\|?|&&?|;)$/.test(token.text)) commands.push([])
    else commands.at(-1)?.push(token)
  return commands
}

/** Without `>file`, `2>&1`, `<file`. */
const withoutRedirections = (tokens: readonly Token[]): readonly string[] =>
  tokens.flatMap(({ text, isOperator }, at) => {
    const before = tokens[at - 1]
    const isTarget = before?.isOperator === true && before.text !== '2>&1'
    return isOperator || isTarget ? [] : [text]
  })

const withoutAssignments = (words: Words): Words => {
  const first = words.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word))
  return first === -1 ? [] : words.slice(first)
}
