// Defines the syntax of a string after parsing: plain data with the place where each part was written.

/** Offsets are UTF-16 code units from the start of the string. */
export type Ast = LiteralAst | TagAst | TextAst

/** No tag in it: stands for itself. */
interface LiteralAst {
  readonly kind: 'literal'
  readonly text: string
}

/** `{{path |> call |> call}}`. */
export interface TagAst {
  readonly kind: 'tag'
  /** As written, braces and all. */
  readonly source: string
  readonly offset: number
  readonly root: string
  readonly keys: readonly string[]
  readonly calls: readonly CallAst[]
}

/** Mixed text; outer double quotes are dropped already. */
export interface TextAst {
  readonly kind: 'text'
  readonly parts: readonly (string | TagAst)[]
}

export interface CallAst {
  readonly name: string
  readonly offset: number
  readonly args: readonly ArgumentAst[]
}

export type ArgumentAst = WordAst | QuotedAst | BracketsAst | TagAst

/** A bare word: a string, but for `_` and `$map`. */
interface WordAst {
  readonly kind: 'word'
  readonly text: string
}

/** In single quotes: literal text, whatever is in it. */
interface QuotedAst {
  readonly kind: 'quoted'
  readonly text: string
}

/** `[a, 'b', {{c}}]` */
export interface BracketsAst {
  readonly kind: 'brackets'
  readonly items: readonly (WordAst | QuotedAst | TagAst)[]
}
