// Asks a gateway, or an operator for all of its gateways, how a request was decided.

import { askGateway } from '../explain/gateway.ts'
import { addressProblem } from '../gateway-operand.ts'
import { MANAGEMENT_SETTINGS } from '../../operator/management-settings.ts'
import { defineCommand } from '../command.ts'

export const why = defineCommand(
  {
    program: 'svc why',
    summary:
      'says how a gateway decided the request with this id (x-request-id), up to 15 minutes later',
    operands: 'REQUEST-ID URL',
    envPrefix: 'SVC_WHY_',
    settings: MANAGEMENT_SETTINGS,
    examples: [
      ['svc why 01a2149e-f166-7409-8dc9-f2ddbc0d21e8 http://127.0.0.1:18081', 'of one gateway'],
      [
        'svc why 01a2149e-f166-7409-8dc9-f2ddbc0d21e8 http://127.0.0.1:18085',
        'of all gateways of an operator',
      ],
    ],
  },
  async ({ settings, operands }, io) => {
    const [id, url, ...others] = operands
    const problem =
      id === undefined || url === undefined || others.length > 0
        ? 'name the id of a request, and the management address of the gateway that served it, or the --status address of the operator'
        : addressProblem(url)
    if (id === undefined || url === undefined || problem !== undefined) {
      io.complain(`svc why: ${problem ?? ''}\n`)
      return 2
    }
    const response = await askGateway(url, settings, (client) => client.whyOfAny(id))
    if ('fault' in response) {
      io.complain(`svc why: ${response.fault}\n`)
      return 1
    }
    const { decisions, silent } = response.value
    io.print(`${JSON.stringify(decisions, null, 2)}\n`)
    if (silent.length > 0)
      io.complain(`svc why: the operator has no response from ${silent.join(', ')}\n`)
    return 0
  },
)
