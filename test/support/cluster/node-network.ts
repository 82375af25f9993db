// Connects the host with the namespaces of a node over a link of its own, and names its networks.

import { demandCommand, runCommand } from '../kubernetes/run-command.ts'
import type { Namespaces } from './namespaces.ts'

/** Everything of `index`, which no other cluster of this machine has. */
export interface NodeNetwork {
  readonly index: number
  /** At the host's end of the link. */
  readonly interfaceName: string
  /** Of the host, as pods see it. */
  readonly hostAddress: string
  /** Of the node. */
  readonly nodeAddress: string
  readonly podCidr: string
  readonly serviceCidr: string
}

const MAX_CLUSTERS = 60

/** Four nets of 256 addresses each: the link, pods, Services, none. */
const networkOf = (index: number): NodeNetwork => {
  const net = (offset: number): string => `10.99.${index * 4 + offset}`
  return {
    index,
    interfaceName: `svc${index}`,
    hostAddress: `${net(0)}.1`,
    nodeAddress: `${net(0)}.2`,
    podCidr: `${net(1)}.0/24`,
    serviceCidr: `${net(2)}.0/24`,
  }
}

/** @throws where 10.99.0.0/16 is taken, or 60 clusters run */
export const joinHost = async (node: Namespaces): Promise<NodeNetwork> => {
  const network = await reserve(node)
  const { interfaceName, hostAddress, nodeAddress, podCidr, serviceCidr } = network
  await ip('addr', 'add', `${hostAddress}/24`, 'dev', interfaceName)
  await ip('link', 'set', interfaceName, 'up')
  const inside = async (...args: readonly string[]): Promise<void> => {
    const { code, stderr } = await node.run(['ip', ...args])
    if (code !== 0) throw new Error(`ip ${args.join(' ')} in the node: ${stderr}`)
  }
  await inside('addr', 'add', `${nodeAddress}/24`, 'dev', 'eth0')
  await inside('link', 'set', 'eth0', 'up')
  await inside('route', 'add', 'default', 'via', hostAddress)
  for (const cidr of [podCidr, serviceCidr])
    await ip('route', 'add', cidr, 'via', nodeAddress, 'dev', interfaceName)
  return network
}

/** The name of the interface is what reserves the nets: the kernel gives it once. It goes with the namespaces. */
const reserve = async (node: Namespaces): Promise<NodeNetwork> => {
  let said = ''
  for (let index = 0; index < MAX_CLUSTERS; index += 1) {
    const network = networkOf(index)
    const peer = ['peer', 'name', 'eth0', 'netns', String(node.firstPid)]
    const args = ['link', 'add', network.interfaceName, 'type', 'veth', ...peer]
    const { code, stderr } = await runCommand({ program: 'ip', args })
    if (code === 0) return network
    said = stderr
  }
  throw new Error(`no interface for a node: ${said}`)
}

const ip = (...args: readonly string[]): Promise<string> => demandCommand({ program: 'ip', args })
