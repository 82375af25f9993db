// Runs `svc-operator uninstall`: writes what it has removed to stdout, and returns the exit code. Ends within a bounded
// time, whatever the API server does.

import { SYSTEM_CLOCK } from '../../base/clock.ts'
import type { OperatorSettings } from '../config.ts'
import { uninstall } from './uninstall.ts'
import { type CommandRun, withCluster } from './with-cluster.ts'

/** 0: nothing of the operator is left. 1: something is, and the command that removes it was printed. */
export const runUninstall = (run: CommandRun): Promise<0 | 1> =>
  withCluster(run, async (api, namespace) => {
    const { settings, print, complain } = run
    const { webhookService, webhookUrl, lease, namespaces } = settings
    const left = await uninstall({
      api,
      clock: SYSTEM_CLOCK,
      namespace,
      lease,
      webhookService,
      webhookUrl,
      namespaces: namespacesOf(settings, namespace),
      watched: namespaces.includes('all') ? 'all' : namespaces,
      print: (line) => {
        print(`${line}\n`)
      },
    })
    for (const { object, command } of left)
      complain(`left: ${object}; remove it with: ${command}\n`)
    return left.length === 0 ? 0 : 1
  })

const namespacesOf = (
  { namespaces, dataPlaneNamespaces }: OperatorSettings,
  own: string,
): readonly string[] | 'all' =>
  namespaces.includes('all') ? 'all' : [...new Set([own, ...namespaces, ...dataPlaneNamespaces])]
