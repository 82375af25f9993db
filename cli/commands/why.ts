// Asks a gateway, or an operator for all of its gateways, how a request was decided.

import { isMap, type ValueMap } from '../../language/expression/value.ts'
import { askGateway } from '../explain/gateway.ts'
import { addressProblem } from '../gateway-operand.ts'
import { MANAGEMENT_SETTINGS } from '../../operator/management-settings.ts'
import { defineCommand } from '../command.ts'
import { OUTPUT_SETTING } from '../common-settings.ts'
import { plainLine } from '../value-text.ts'

export const why = defineCommand(
  {
    program: 'svc why',
    summary: 'says why a request was answered so, by its id (x-request-id), up to 15 minutes later',
    operands: 'REQUEST-ID URL',
    envPrefix: 'SVC_WHY_',
    settings: { ...OUTPUT_SETTING, ...MANAGEMENT_SETTINGS },
    examples: [
      ['svc why 01a2149e-f166-7409-8dc9-f2ddbc0d21e8 http://127.0.0.1:18081', 'of one gateway'],
      [
        'svc why 01a2149e-f166-7409-8dc9-f2ddbc0d21e8 http://127.0.0.1:18085',
        'of all gateways of an operator',
      ],
    ],
  },
  async ({ settings, operands }, { print, complain, fail }) => {
    const [id, url, ...others] = operands
    if (id === undefined || url === undefined || others.length > 0)
      return fail(
        'name the id of a request, and the management address of the gateway that served it, or the --status address of the operator',
      )
    const problem = addressProblem(url)
    if (problem !== undefined) return fail(problem)
    const response = await askGateway(url, settings, (client) => client.whyOfAny(id))
    if ('error' in response) {
      complain(`svc why: ${response.error}\n`)
      return 1
    }
    const { decisions, silent } = response.value
    if (settings.output === 'json') print(`${JSON.stringify(decisions, null, 2)}\n`)
    else print(decisions.map(decisionText).join('\n'))
    if (silent.length > 0)
      complain(`svc why: the operator has no response from ${silent.join(', ')}\n`)
    return 0
  },
)

/** What the gateway says of it, in sentences; the other members are for programs (`-o json`). */
const decisionText = ({ gateway, sentences }: ValueMap): string =>
  LINES.flatMap(([label, member]) => {
    const text = isMap(sentences) ? sentences[member] : undefined
    return typeof text === 'string' ? [`${label}${text}`] : []
  })
    .concat(typeof gateway === 'string' ? [`gateway    ${gateway}`] : [])
    .map((line) => `${plainLine(line)}\n`)
    .join('')

const LINES = [
  ['request    ', 'came'],
  ['decided    ', 'decided'],
  ['why        ', 'why'],
  ['what to do ', 'remedy'],
] as const
