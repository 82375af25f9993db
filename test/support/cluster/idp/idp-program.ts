// Runs an OpenID provider in a pod, with its options as JSON in the first argument; it listens on every address until
// SIGTERM.

import { argv } from 'node:process'
import { type IdpOptions, startIdp } from '../../../../dev/idp/idp.ts'

const options = JSON.parse(argv[2] ?? '{}') as Partial<IdpOptions>
const idp = await startIdp({ clients: [], port: 8080, host: '0.0.0.0', ...options })
process.stdout.write(`${idp.issuer} listens\n`)
for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.once(signal, () => {
    void idp.close()
  })
