// Prints what compile() gave as YAML for a golden file: everything of it, but for the 233 status codes that every
// version begins with.

import { Document, isCollection, visit } from 'yaml'
import type { Compilation } from '../../../language/compile.ts'
import type { CompiledVersion } from '../../../language/compile/compiled.ts'
import { STATUS_CODES } from '../../../language/compile/status-codes.ts'

const LINE = 110

export const printCompilation = (compilation: Compilation): string => {
  const data = 'problems' in compilation ? compilation : withOwnCodes(compilation)
  const document = new Document(data, { aliasDuplicateObjects: false })
  visit(document, {
    Collection: (key, node, path) => {
      // What fits on a line stands on one.
      const isShort = JSON.stringify(node).length + 4 * path.length < LINE
      if (isCollection(node) && key !== null && isShort) node.flow = true
    },
  })
  return document.toString({ lineWidth: LINE })
}

const withOwnCodes = ({ compiled, warnings }: Exclude<Compilation, { problems: unknown }>) => ({
  warnings,
  compiled: {
    ...compiled,
    versions: compiled.versions.map(({ statusCodes, ...version }) => ({
      ...version,
      ownStatusCodes: ownCodes(statusCodes),
    })),
  },
})

const ownCodes = (codes: CompiledVersion['statusCodes']) =>
  Object.fromEntries(Object.entries(codes).filter(([uri, code]) => STATUS_CODES[uri] !== code))
