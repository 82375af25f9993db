// Ends a program in one sentence on a Node that is too old for it. Imported before everything else: what is imported
// after it would fail with a stack trace that names neither Node nor its version.

import { MINIMUM_NODE, describeOldNode } from './node-version.ts'

const problem = describeOldNode(process.versions.node, MINIMUM_NODE)
if (problem !== undefined) {
  process.stderr.write(`${problem}\n`)
  process.exit(2)
}
