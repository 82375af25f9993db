// Decides whether the syntax of a string means the same wherever it stands, which is so when it reads nothing that is
// known at load.

import type { ArgumentAst, Ast, TagAst } from './syntax/ast.ts'
import { isWaiting } from './resolve.ts'

/**
 * @example
 * const parsed = parse('{{request.id}} of {{variables.tenant}}')
 * parsed.ok && isFree(parsed.ast) // false
 */
export const isFree = (ast: Ast): boolean => {
  if (ast.kind === 'literal') return true
  if (ast.kind === 'tag') return isFreeTag(ast)
  return ast.parts.every((part) => typeof part === 'string' || isFreeTag(part))
}

const isFreeTag = ({ root, calls }: TagAst): boolean =>
  isWaiting(root) && calls.every(({ args }) => args.every(isFreeArgument))

const isFreeArgument = (arg: ArgumentAst): boolean => {
  if (arg.kind === 'brackets') return arg.items.every(isFreeArgument)
  return arg.kind !== 'tag' || isFreeTag(arg)
}
