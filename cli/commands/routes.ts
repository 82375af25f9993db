// Lists the routes of files, or of a gateway.

import { runRoutes } from '../../operator/explain/routes-command.ts'
import { sourceProblem } from '../../operator/gateway-operand.ts'
import { defineCommand } from '../command.ts'
import { JSON_SETTING, SOURCE_SETTINGS } from '../source-settings.ts'

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
      },
      ...JSON_SETTING,
      ...SOURCE_SETTINGS,
    },
    examples: [['svc routes apis/ --match /orders', 'which paths have orders']],
  },
  async ({ settings, operands }, io) => {
    const problem = sourceProblem(operands)
    if (problem === undefined)
      return await runRoutes(operands, settings, { ...io, program: 'svc routes' })
    io.complain(`svc routes: ${problem}\n`)
    return 2
  },
)
