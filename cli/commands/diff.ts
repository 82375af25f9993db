// Compares the routes of files with those that a gateway serves, before the files are applied.

import { WEB_SOCKET_ACTION } from '../../language/explain/list-routes.ts'
import { routesOfFiles, routesOfGateway } from '../../operator/explain/routes-command.ts'
import type { PlacedRoute } from '../../operator/explain/routes-text.ts'
import { addressProblem } from '../../operator/gateway-operand.ts'
import { defineCommand, type ExitCode } from '../command.ts'
import { compareRoutes, type RouteChange } from '../route-changes.ts'
import { JSON_SETTING, SOURCE_SETTINGS } from '../source-settings.ts'

export const diff = defineCommand(
  {
    program: 'svc diff',
    summary: 'compares files with a gateway: routes, hosts and security that would change',
    operands: 'FILE|DIR|-…',
    envPrefix: 'SVC_DIFF_',
    settings: {
      gateway: {
        type: 'string',
        default: 'http://127.0.0.1:18081',
        placeholder: 'URL',
        help: 'management address of the gateway',
      },
      all: {
        type: 'boolean',
        default: false,
        help: 'the files are everything: what else the gateway serves would go',
      },
      ...JSON_SETTING,
      ...SOURCE_SETTINGS,
    },
    examples: [['svc diff apis/', 'exit 0: no change, 1: changes, 3: security is loosened']],
  },
  async ({ settings, operands }, io) => {
    const problem =
      operands.length === 0
        ? 'name the files to compare, or - for stdin'
        : addressProblem(settings.gateway)
    if (problem !== undefined) {
      io.complain(`svc diff: ${problem}\n`)
      return 2
    }
    const unfiltered = { ...settings, match: null }
    const wanted = await routesOfFiles(operands, unfiltered, io)
    if ('fault' in wanted) return fail(wanted.fault, io.complain)
    const served = await routesOfGateway(settings.gateway, unfiltered)
    if ('fault' in served) return fail(served.fault, io.complain)
    // Whether a realm that is not among the files has a router, which takes WebSocket connections, they can't say.
    const isKnown = ({ row }: PlacedRoute): boolean =>
      row.action !== WEB_SOCKET_ACTION || wanted.realms.has(row.realm)
    const changes = compareRoutes(
      served.routes.filter(isKnown).map(({ row }) => row),
      wanted.routes.filter(isKnown).map(({ row }) => row),
      { isWhole: settings.all },
    )
    io.print(
      settings.json ? `${JSON.stringify({ changes }, null, 2)}\n` : changes.map(lineOf).join(''),
    )
    for (const line of [...wanted.leftOut, ...served.leftOut]) io.complain(`left out: ${line}\n`)
    io.complain(`${summaryOf(changes)}\n`)
    // Of a document that is left out nothing is known: "no change" would be a guess.
    return wanted.leftOut.length > 0 ? 2 : exitCodeOf(changes)
  },
)

const fail = (fault: string, complain: (text: string) => void): 2 => {
  complain(`svc diff: ${fault}\n`)
  return 2
}

const exitCodeOf = (changes: readonly RouteChange[]): ExitCode => {
  if (changes.some(({ isLoosened }) => isLoosened)) return 3
  return changes.length > 0 ? 1 : 0
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
  return `${SIGNS[type]} ${method} ${host}${path}  ${words.join(', ')}${warning}\n`
}

const summaryOf = (changes: readonly RouteChange[]): string => {
  const of = (type: RouteChange['type']): number =>
    changes.filter((change) => change.type === type).length
  const loosened = changes.filter(({ isLoosened }) => isLoosened).length
  const counts = `${of('added')} added, ${of('removed')} removed, ${of('changed')} changed`
  return loosened === 0 ? counts : `${counts}; security is loosened for ${loosened}`
}
