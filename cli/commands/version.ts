// Prints which build of svc this is.

import { readRevision, readVersion } from '../../telemetry/version.ts'
import { defineCommand } from '../command.ts'

export const version = defineCommand(
  {
    program: 'svc version',
    summary: 'prints the version of svc, the commit it was built from, and the version of Node',
    envPrefix: 'SVC_VERSION_',
    settings: {},
    examples: [['svc version', 'for a bug report']],
  },
  (_, { print }) => {
    print(`svc ${readVersion()} (${readRevision()}), Node ${process.versions.node}\n`)
    return 0
  },
)
