// Prints which ApiSpecifications and Realms are served, from the statuses in a cluster, from an operator or from a gateway.

import { didYouMean } from '../../base/nearest-name.ts'
import type { ValueMap } from '../../language/expression/value.ts'
import { askGateway } from '../explain/gateway.ts'
import { addressProblem, isManagementAddress } from '../gateway-operand.ts'
import { ApiError } from '../../operator/kubernetes/client/api.ts'
import { MANAGEMENT_SETTINGS, type ManagementSettings } from '../../operator/management-settings.ts'
import { OWN_TYPES } from '../../operator/resource/own-types.ts'
import type { Settings } from '../../telemetry/settings-table.ts'
import { CLUSTER_SETTINGS } from '../cluster/cluster-settings.ts'
import { connectCluster } from '../cluster/connect.ts'
import { describeCall } from '../cluster/failure-text.ts'
import { readAll } from '../cluster/read-resources.ts'
import { type CommandIo, defineCommand, type ExitCode } from '../command.ts'
import type { CommandTable } from '../command-table.ts'
import { OUTPUT_SETTING } from '../common-settings.ts'
import {
  type ResourceStanding,
  type Standing,
  standingOfGateway,
  standingOfObject,
  standingOfOperator,
} from '../standing.ts'
import { standingSummary, standingText } from '../standing-text.ts'

const TABLE = {
  program: 'svc status',
  summary:
    'says which APIs and Realms are served and what is wrong with the others: of a cluster, or of the operator or gateway with this address',
  operands: '[NAME|apispec/NAME|realm/NAME|URL]…',
  envPrefix: 'SVC_STATUS_',
  settings: {
    ...CLUSTER_SETTINGS,
    'all-namespaces': {
      type: 'boolean',
      default: false,
      short: 'A',
      help: 'of all namespaces',
      reason: 'those who run the cluster',
    },
    ...OUTPUT_SETTING,
    ...MANAGEMENT_SETTINGS,
  },
  examples: [
    ['svc status -n shop', 'exit 0: all is served, 1: something is not, 2: nothing is known'],
    ['svc status realm/acme', 'one Realm of the current namespace'],
    ['svc status http://127.0.0.1:18085', 'of an operator, without a cluster'],
  ],
} as const satisfies CommandTable

type StatusSettings = Settings<typeof TABLE>

type Read = (Standing & { readonly where: string }) | { readonly error: string }

export const status = defineCommand(TABLE, async ({ settings, operands }, io) => {
  const [url, ...addresses] = operands.filter(isManagementAddress)
  const names = operands.filter((operand) => !isManagementAddress(operand))
  const problem =
    addresses.length > 0 ? 'name one address' : url === undefined ? undefined : addressProblem(url)
  const read: Read =
    problem !== undefined
      ? { error: problem }
      : url === undefined
        ? await readCluster(settings, io)
        : await readAddress(url, settings)
  if ('error' in read) {
    io.complain(`svc status: ${read.error}\n`)
    return 2
  }
  return printStanding(read, names, settings, io)
})

const readCluster = async (settings: StatusSettings, io: CommandIo): Promise<Read> => {
  const connection = await connectCluster(settings, io)
  if ('error' in connection) return connection
  await using cluster = connection
  const scope = settings.allNamespaces ? {} : { namespace: cluster.namespace }
  try {
    const lists = [OWN_TYPES.apiSpecifications, OWN_TYPES.realms].map((type) =>
      readAll(cluster.api, type, scope),
    )
    const objects = (await Promise.all(lists)).flat()
    const where = settings.allNamespaces ? 'all namespaces' : `namespace ${cluster.namespace}`
    return { resources: objects.map(standingOfObject), where }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const hint =
      error.code === 'not_found'
        ? 'this cluster does not know our kinds: install the chart, or crds/, first'
        : describeCall(error, cluster.server)
    return { error: hint }
  }
}

/** An operator has a page that a gateway does not have. */
const readAddress = async (url: string, settings: ManagementSettings): Promise<Read> => {
  const response = await askGateway<Standing | { readonly error: string }>(
    url,
    settings,
    async (client) => {
      const page = await client.operatorStatus()
      if (page.result === 'ok') {
        const standing = standingOfOperator(page.value)
        return { ...page, value: standing ?? { error: `${url}: ${standbyWords(page.value)}` } }
      }
      if (page.result !== 'refused' || page.status !== 404) return page
      const state = await client.state(undefined, STATE_BOUND)
      return state.result === 'ok' ? { ...state, value: standingOfGateway(state.value) } : state
    },
  )
  if ('error' in response) return response
  return 'error' in response.value ? response.value : { ...response.value, where: url }
}

const STATE_BOUND = { bytes: 32 * 1024 * 1024, values: 2_000_000 }

const standbyWords = (page: ValueMap): string =>
  page['leading'] === false
    ? 'this replica of the operator does not lead, so that it knows nothing of the gateways: ask another one'
    : 'this is neither an operator nor a gateway'

const printStanding = (
  { where, ...standing }: Standing & { readonly where: string },
  names: readonly string[],
  { output }: StatusSettings,
  { print, complain }: CommandIo,
): ExitCode => {
  const resources = standing.resources
    .filter((each) => names.length === 0 || names.some((name) => isNamed(each, name)))
    .toSorted((left, right) => (keyOf(left) < keyOf(right) ? -1 : 1))
  const missing = names.filter((name) => !resources.some((each) => isNamed(each, name)))
  const shown = { ...standing, resources }
  if (output === 'json') print(`${JSON.stringify(shown, null, 2)}\n`)
  else print(standingText(shown))
  for (const name of missing) {
    const near = didYouMean(
      name,
      standing.resources.map((each) => each.name),
    )
    complain(`svc status: there is no ApiSpecification or Realm '${name}' in ${where}${near}\n`)
  }
  const hint = resources.length === 0 && missing.length === 0 ? ` in ${where}` : ''
  complain(`${standingSummary(shown)}${hint}\n`)
  return missing.length > 0 || resources.some(({ isServed }) => !isServed) ? 1 : 0
}

const keyOf = ({ kind, namespace, name }: ResourceStanding): string =>
  `${kind}/${namespace}/${name}`

const KINDS: Readonly<Record<string, ResourceStanding['kind']>> = {
  apispec: 'ApiSpecification',
  apispecs: 'ApiSpecification',
  apispecification: 'ApiSpecification',
  apispecifications: 'ApiSpecification',
  realm: 'Realm',
  realms: 'Realm',
}

/** Compares name or id; `kind/name` as kubectl has it. */
const isNamed = ({ kind, name, id }: ResourceStanding, wanted: string): boolean => {
  const slash = wanted.indexOf('/')
  const wantedKind = slash === -1 ? undefined : KINDS[wanted.slice(0, slash).toLowerCase()]
  const bare = wantedKind === undefined ? wanted : wanted.slice(slash + 1)
  return (wantedKind === undefined || wantedKind === kind) && (bare === name || bare === id)
}
