// Writes changes of routes for a terminal, one line for each, and decides the exit code that they stand for. Pure.

import { printableLine } from '../telemetry/printable.ts'
import type { ExitCode } from './command.ts'
import type { DiffSides } from './diff-sides.ts'
import { compareHosts, compareRoutes, type HostChanges, type RouteChange } from './route-changes.ts'

/** What files would change. */
export interface Difference {
  readonly changes: readonly RouteChange[]
  readonly hosts: HostChanges
}

export const differenceOf = ({ before, after }: DiffSides): Difference => ({
  changes: compareRoutes(before, after),
  hosts: compareHosts(before, after),
})

/** @example '+ host api.acme.com\n+ GET api.acme.com/orders  action static, security none\n' */
export const differenceText = ({ changes, hosts }: Difference): string =>
  [
    ...hosts.claimed.map((host) => `+ host ${printableLine(host)}\n`),
    ...hosts.released.map((host) => `- host ${printableLine(host)}\n`),
    ...changes.map(lineOf),
  ].join('')

/** Changes of routes: none, some, or some that loosen security. */
export const differenceExitCode = ({ changes }: Difference): ExitCode => {
  if (changes.some(({ isLoosened }) => isLoosened)) return 3
  return changes.length > 0 ? 1 : 0
}

/** @example '1 added, 0 removed, 2 changed; security is loosened for 1' */
export const differenceSummary = ({ changes, hosts }: Difference): string => {
  const of = (type: RouteChange['type']): number =>
    changes.filter((change) => change.type === type).length
  const loosened = changes.filter(({ isLoosened }) => isLoosened).length
  const counts = `routes: ${of('added')} added, ${of('removed')} removed, ${of('changed')} changed`
  return [
    counts,
    ...(hosts.claimed.length === 0 ? [] : [`claims ${printableLine(hosts.claimed.join(', '))}`]),
    ...(loosened === 0 ? [] : [`security is loosened for ${loosened}`]),
  ].join('; ')
}

const SIGNS = { added: '+', removed: '-', changed: '~' } as const satisfies Record<
  RouteChange['type'],
  string
>

const lineOf = ({ type, method, host, path, differences, isLoosened }: RouteChange): string => {
  const words = differences.map(({ what, before, after }) =>
    before === after || before === '' || after === ''
      ? `${what} ${before || after}`
      : `${what} ${before} → ${after}`,
  )
  const warning = isLoosened ? '  LOOSENED' : ''
  return `${printableLine(`${SIGNS[type]} ${method} ${host}${path}  ${words.join(', ')}`)}${warning}\n`
}
