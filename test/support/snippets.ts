// Finds the fenced blocks and the inline code of a page, each with its line.

export interface Snippet {
  readonly page: string
  readonly line: number
  /** Of the fence; '' where it names none, which is a terminal: commands, and what they print. */
  readonly language: string
  readonly text: string
}

export interface InlineCode {
  readonly line: number
  readonly code: string
}

const FENCE = /^( *)```(\S*)[^\n]*\n(.*?)^ *```$/gms

const lineAt = (text: string, index: number): number => text.slice(0, index).split('\n').length

const withoutIndent = (text: string, indent: string): string =>
  text.replaceAll(new RegExp(`^${indent}`, 'gm'), '')

/** @throws Error if a fence is not closed */
export const snippetsOf = (page: string, text: string): readonly Snippet[] => {
  const found = [...text.matchAll(FENCE)].map(
    ({ index, 1: indent = '', 2: language = '', 3: inner = '' }) => ({
      page,
      line: lineAt(text, index),
      language,
      text: withoutIndent(inner, indent),
    }),
  )
  const fences = text.match(/^ *```/gm)?.length ?? 0
  if (fences !== 2 * found.length) throw new Error(`${page}: a fence is not closed`)
  return found
}

/** Code within backticks, outside of fenced blocks; a bar that a table needs escaped is a bar. */
export const inlineCodeOf = (text: string): readonly InlineCode[] => {
  // Blocks become empty lines, so that lines keep their numbers.
  const prose = text.replaceAll(FENCE, (block) => block.replaceAll(/[^\n]/g, ''))
  return [...prose.matchAll(/(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)/g)].map(
    ({ index, 2: code = '' }) => ({
      line: lineAt(prose, index),
      code: code.trim().replaceAll('\\|', '|'),
    }),
  )
}
