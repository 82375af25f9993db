// Lists the routes of files, or of a gateway.

import { defineCommand } from '../command.ts'
import { routesOfFiles, routesOfGateway } from '../explain/read-routes.ts'
import { routesText } from '../explain/routes-text.ts'
import { isManagementAddress, sourceProblem } from '../gateway-operand.ts'
import { OUTPUT_SETTING, SOURCE_SETTINGS } from '../common-settings.ts'

/** 0: they were listed. 1: some documents were left out. 2: nothing could be read. */
export const routes = defineCommand(
  {
    program: 'svc routes',
    summary: 'lists every route of files, or of the gateway with this management address',
    operands: 'FILE|DIR|-…|URL',
    envPrefix: 'SVC_ROUTES_',
    settings: {
      match: {
        type: 'string',
        default: null,
        placeholder: 'TEXT',
        help: 'only those with this text in host and path, action, realm or document',
        reason: 'people who look for one of many routes',
      },
      ...OUTPUT_SETTING,
      ...SOURCE_SETTINGS,
    },
    examples: [['svc routes apis/ --match /orders', 'which paths have orders']],
  },
  async ({ settings, operands }, { print, complain, fail, readStdin }) => {
    const problem = sourceProblem(operands)
    if (problem !== undefined) return fail(problem)
    const [first = ''] = operands
    const read = isManagementAddress(first)
      ? await routesOfGateway(first, settings)
      : await routesOfFiles(operands, settings, readStdin)
    if ('error' in read) return fail(read.error)
    const { routes, leftOut } = read
    const shown = routes.map(({ row, at }) => ({ ...row, at }))
    print(
      settings.output === 'json'
        ? `${JSON.stringify({ routes: shown }, null, 2)}\n`
        : routesText(routes),
    )
    for (const line of leftOut) complain(`left out: ${line}\n`)
    complain(`${routes.length} ${routes.length === 1 ? 'route' : 'routes'}\n`)
    return leftOut.length === 0 ? 0 : 1
  },
)
