// Lists the settings of commands that talk to a cluster, called as those of kubectl. Data only.

import type { ReasonedSettings, Settings, SettingsTable } from '../../telemetry/settings-table.ts'

export const CLUSTER_SETTINGS = {
  namespace: {
    type: 'string',
    default: null,
    placeholder: 'NAME',
    short: 'n',
    help: "namespace of what names none; that of the kubeconfig's context if left out",
    reason: 'manifests without a namespace',
  },
  context: {
    type: 'string',
    default: null,
    placeholder: 'NAME',
    help: 'context of the kubeconfig; its current one if left out',
    reason: 'people with more than one cluster',
  },
  kubeconfig: {
    type: 'path',
    default: null,
    placeholder: 'FILE',
    help: "if left out $KUBECONFIG, the pod's service account, ~/.kube/config",
    reason: 'pipelines with a file of their own',
  },
} as const satisfies ReasonedSettings

export type ClusterSettings = Settings<
  Omit<SettingsTable, 'settings'> & { readonly settings: typeof CLUSTER_SETTINGS }
>
