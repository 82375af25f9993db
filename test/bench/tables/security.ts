// The table of what it costs to know who is calling: one operation, asked by anybody and under each security
// scheme, in one process.

import type { Bench, Timing } from '../bench.ts'
import { compare, type Subject } from '../compare.ts'
import { loadUnmanaged, startGateway } from '../gateway.ts'
import { comparisonRemarks, comparisonTable, ratioAtLeast, type Section } from '../section.ts'
import {
  credentials,
  type Guarded,
  securityDocument,
  securityPath,
  securityRealm,
} from '../security-documents.ts'
import { withServers } from '../server-process.ts'

const NAMES = {
  open: 'no security',
  api_key: 'API key',
  basic: 'Basic',
  oauth2: 'bearer token',
  oidc: 'ticket in its cookie',
} as const satisfies Record<Guarded, string>

const BOUNDS = {
  api_key: 0.95,
  basic: 0.95,
  oauth2: 0.95,
  oidc: 0.95,
} as const satisfies Partial<Record<Guarded, number>>

/** The same heads where nothing looks at them: what of the difference is HTTP's. */
const UNREAD = {
  oauth2: 'no security, with that token',
  oidc: 'no security, with that cookie',
} as const satisfies Partial<Record<Guarded, string>>

/** Differences are small and all in one process: many short rounds say more than a few long ones. */
const TIMING = { seconds: 1, warmSeconds: 1, repetitions: 15 } as const satisfies Timing

export const measureSecurity = (bench: Bench): Promise<Section> =>
  withServers(bench.machine, async (start) => {
    const gateway = await startGateway(start)
    const realm = await securityRealm()
    await loadUnmanaged(gateway, [securityDocument()], realm)
    const headers = await credentials(gateway.url, realm)
    const subject = (name: string, path: Guarded, sent: Guarded): Subject => ({
      name,
      pid: gateway.pid,
      load: { url: `${gateway.url}${securityPath(path)}`, headers: headers[sent] },
    })
    const subjects = [
      ...keysOf(NAMES).map((guarded) => subject(NAMES[guarded], guarded, guarded)),
      ...keysOf(UNREAD).map((guarded) => subject(UNREAD[guarded], 'open', guarded)),
    ]
    const comparison = await compare({ ...bench, timing: TIMING }, subjects, { title: 'security' })
    return {
      title: 'Knowing who calls',
      method: `GET of the rendered JSON under each scheme, with credentials that were verified before; ${TIMING.repetitions} interleaved repetitions of ${TIMING.seconds} s each. \`×\` is to the same operation without security and without credentials in the request, so reading a longer head (the ticket has ${headers.oidc['Cookie']?.length ?? 0} bytes, the token ${headers.oauth2['Authorization']?.length ?? 0}) counts as well: the last two rows say how much that is.`,
      tables: [comparisonTable(comparison)],
      targets: keysOf(BOUNDS).flatMap((guarded) =>
        ratioAtLeast(comparison, NAMES[guarded], NAMES.open, BOUNDS[guarded]),
      ),
      remarks: comparisonRemarks(comparison),
    }
  })

const keysOf = <T extends object>(map: T): readonly (keyof T)[] => Object.keys(map) as (keyof T)[]
