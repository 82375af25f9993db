// Runs `svc-operator release`: writes what it has released to stdout, and returns the exit code. It is for resources in
// namespaces that an operator no longer watches, where it has no rights to write that itself.

import { SYSTEM_CLOCK } from '../../base/clock.ts'
import { namespaceReleased } from '../resource/released.ts'
import { operatorName } from '../status/kubernetes-status-apply.ts'
import { releaseLines, releaseStatuses } from './release-statuses.ts'
import { type CommandRun, withCluster } from './with-cluster.ts'

/** 0 also where something could not be written: it is listed, and an upgrade that has succeeded does not fail by it. */
export const runRelease = async (run: CommandRun): Promise<0> => {
  const { settings, print } = run
  const { namespaces } = settings
  if (namespaces.includes('all')) {
    print('nothing to release: all namespaces are watched\n')
    return 0
  }
  const watched = new Set(namespaces)
  return withCluster<0>(run, async (api, namespace) => {
    const operator = operatorName(settings, namespace)
    const released = await releaseStatuses({
      api,
      clock: SYSTEM_CLOCK,
      operator,
      namespaces: 'all',
      isMeant: (each) => !watched.has(each),
      message: (each) => namespaceReleased(each, operator),
    })
    for (const line of releaseLines(released)) print(`${line}\n`)
    return 0
  })
}
