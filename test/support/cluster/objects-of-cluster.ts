// Lists every object of a cluster, of whatever kind, in all namespaces: what differs between two times is what somebody
// has made or removed. Events are no objects here, they come and go by themselves.

import type { ClusterNode } from './cluster-node.ts'
import { demandKubectl } from './install.ts'

/** `KIND NAMESPACE/NAME`; of a cluster's own the namespace is empty. */
export const objectsOfCluster = async (cluster: ClusterNode): Promise<ReadonlySet<string>> => {
  const listed = await demandKubectl(cluster, ['api-resources', '--verbs=list', '-o', 'name'])
  const kinds = listed.split('\n').filter((name) => name !== '' && !/^events\b/.test(name))
  const path = '{range .items[*]}{.kind} {.metadata.namespace}/{.metadata.name}{"\\n"}{end}'
  const args = ['get', kinds.join(), '--all-namespaces', '-o', `jsonpath=${path}`]
  const lines = (await demandKubectl(cluster, args)).split('\n')
  return new Set(lines.filter((line) => line !== ''))
}
