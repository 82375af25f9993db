// Prints the JSON Schema by which editors complete and check manifests and documents.

import { manifestSchema } from '../editor/manifest-schema.ts'
import { defineCommand } from '../command.ts'

export const schema = defineCommand(
  {
    program: 'svc schema',
    summary: 'prints the JSON Schema of manifests and documents, for editors',
    envPrefix: 'SVC_SCHEMA_',
    settings: {},
    examples: [
      ['svc schema > .svc.schema.json', 'for `# yaml-language-server: $schema=.svc.schema.json`'],
    ],
  },
  (_, { print }) => {
    print(`${JSON.stringify(manifestSchema(), null, 2)}\n`)
    return 0
  },
)
