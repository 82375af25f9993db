// The settings in; an operator on Kubernetes out: resources and pods watched, a Lease held or waited for, data planes
// brought into line by the leader, and the status of every resource written.

import { hostname } from 'node:os'
import type { Log } from '../telemetry/log.ts'
import type { MetricsState } from '../telemetry/metrics-state.ts'
import { readVersion } from '../telemetry/version.ts'
import type { WebhookKeeper } from './admission/webhook-keeper.ts'
import { CertificateKeeper } from './certificates/certificate-keeper.ts'
import { withRealmKeys } from './certificates/keyed-source.ts'
import { RealmKeyKeeper } from './certificates/realm-key-keeper.ts'
import { type Clock, SYSTEM_CLOCK } from './clock.ts'
import type { OperatorSettings } from './config.ts'
import { type Companion, Controller, type ControllerOptions } from './controller/controller.ts'
import { credentialFiles } from './credential-files.ts'
import { createCredentialReader } from './fleet/credentials.ts'
import type { KubernetesApi } from './kubernetes/api.ts'
import { createKubernetesApi } from './kubernetes/client.ts'
import { type ClusterOptions, loadCluster } from './kubernetes/kubeconfig.ts'
import { createEventRecorder } from './kubernetes/event-recorder.ts'
import { createLeaseLeadership } from './kubernetes/lease-leadership.ts'
import { createPodDataPlanes } from './kubernetes/pods.ts'
import { createKubernetesSource } from './kubernetes/source.ts'
import { namespaceOf, WarmDataPlanes } from './kubernetes/warm-data-planes.ts'
import { WatchLog } from './kubernetes/watch-log.ts'
import { createOperatorMetrics } from './metrics.ts'
import { createKubernetesMetrics, type KubernetesMetrics } from './metrics-kubernetes.ts'
import type { RunningOperator } from './operate.ts'
import type { SourceNote } from './resource/resource-source.ts'
import { GROUP } from './resource/resource.ts'
import { debugPages } from './status/debug-pages.ts'
import { createStatusEvents } from './status/kubernetes-status-events.ts'
import { createStatusWriter, type StatusWriter } from './status/kubernetes-status.ts'
import { healthPages, type PageSources, statusPages } from './status/page.ts'
import { type StatusServer, startStatusServer } from './status/status-server.ts'
import {
  createMissedPods,
  createWebhookKeepers,
  createWebhookRemover,
  openAdmission,
  webhookNames,
} from './webhook.ts'

export interface KubernetesOptions {
  readonly settings: OperatorSettings
  readonly env: ClusterOptions['env']
  readonly log: Log
  /** Called when everything listens, before anything is read. */
  readonly onOpen: (facts: Readonly<Record<string, unknown>>) => void
}

/** @throws Error in plain words where no API server is known or an address can't be listened on */
export const operateOnKubernetes = async (
  options: KubernetesOptions,
): Promise<Omit<RunningOperator, 'settled'>> => {
  const { settings, env, log, onOpen } = options
  const { kubeconfig } = settings
  const clock = SYSTEM_CLOCK
  const cluster = await loadCluster({ env, clock, ...(kubeconfig !== null && { kubeconfig }) })
  const userAgent = `svc-operator/${readVersion()}`
  const metrics = createKubernetesMetrics()
  const api = createKubernetesApi({
    ...{ cluster, clock, log, userAgent },
    onRequest: metrics.onRequest,
  })
  const namespace = settings.namespace ?? cluster.namespace
  const parts = assemble({
    ...{ ...options, api, clock, namespace, metrics },
    watchLog: new WatchLog({ clock, log }),
    namespaces: allOr(settings.namespaces),
  })
  const servers = await openPages(settings, parts)
  const { certificates } = parts
  const admission = await openAdmission({ settings, certificates, clock, namespace, log })
  onOpen({
    server: cluster.server,
    namespace: parts.namespace,
    status: servers.map(({ url }) => url),
  })
  parts.certificates.start()
  for (const webhook of parts.webhooks) webhook.introduce()
  parts.dataPlanes.open()
  await parts.controller.start()
  return {
    stop: async () => {
      await parts.controller.stop()
      parts.dataPlanes.close()
      const looking = parts.lookers.map((looker) => looker.stop())
      // What is still asked of the API server is nobody's to wait for: our turn is over.
      await api.close()
      await parts.certificates.stop()
      await Promise.all(looking)
      await Promise.all(parts.webhooks.map((webhook) => webhook.stop()))
      await admission?.close()
      await Promise.all(servers.map((server) => server.close()))
    },
  }
}

interface Parts {
  readonly namespace: string
  readonly controller: Controller
  readonly certificates: CertificateKeeper
  readonly dataPlanes: WarmDataPlanes
  readonly webhooks: readonly WebhookKeeper[]
  /** Companions that are to be stopped. */
  readonly lookers: readonly { readonly stop: () => Promise<void> }[]
  readonly readMetrics: () => Promise<MetricsState>
  /** What is wrong beside the resources. */
  readonly troubles: () => readonly SourceNote[]
}

interface Surroundings extends KubernetesOptions {
  readonly metrics: KubernetesMetrics
  readonly watchLog: WatchLog
  readonly api: KubernetesApi
  readonly clock: Clock
  /** The operator's own. */
  readonly namespace: string
  readonly namespaces: readonly string[] | 'all'
}

const assemble = (around: Surroundings): Parts => {
  const { api, clock, log, settings, namespace, namespaces } = around
  const shared = { api, clock, log }
  const pool =
    settings.dataPlaneNamespaces.length === 0 ? [namespace] : settings.dataPlaneNamespaces
  const certificates: CertificateKeeper = new CertificateKeeper({
    ...{ ...shared, namespace, clientName: settings.manager },
    serviceAccount: settings.serviceAccount,
    // A Pod of the shared pool can't start before its Secret is there.
    awaitedNamespaces: pool,
    dataPlaneNamespaces: () =>
      settings.dataPlaneTls ? new Set([...pool, ...dataPlanes.namespaces()]) : [],
    webhookNames: webhookNames(settings, namespace),
    onChange: () => {
      for (const webhook of webhooks) webhook.check()
    },
  })
  const webhooks = createWebhookKeepers({ ...around, certificates })
  const dataPlanes: WarmDataPlanes = new WarmDataPlanes({
    pods: createPodDataPlanes({
      ...shared,
      watchLog: around.watchLog,
      namespaces: pool,
      sidecarNamespaces: namespaces,
      scheme: settings.dataPlaneTls ? 'https' : 'http',
    }),
    onNamespace: (each) => {
      if (settings.dataPlaneTls) void certificates.ensureNamespace(each)
    },
  })
  const missedPods = createMissedPods({ ...around, certificates })
  const remover = createWebhookRemover({ ...around, certificates })
  const lookers = [missedPods, remover].filter((each) => each !== undefined)
  const companions = [certificates, ...webhooks, ...lookers]
  const writer = createStatusWriter({ ...shared, fieldManager: 'svc-operator' })
  const controller = createController(around, { certificates, dataPlanes, companions, writer })
  const readMetrics = around.metrics.observe({
    isLeading: () => controller.status.isLeading,
    desired: () => controller.desired,
    status: () => writer.facts,
    certificateEndsMs: () => certificates.endsMs,
    troubles: () => ({
      pods: dataPlanes.notes().filter(({ severity }) => severity === 'error').length,
      certificates: certificates.troubles.size,
      webhook: webhooks.some(({ trouble }) => trouble !== undefined) ? 1 : 0,
    }),
    podsWithoutGateway: () => missedPods?.count,
    fleet: () => controller.fleet?.counters(),
  })
  const troubles = () => [
    ...certificateNotes(certificates),
    ...webhooks.flatMap(({ trouble, drift }) => [
      ...(trouble === undefined ? [] : [errorNote(`the webhook: ${trouble}`)]),
      // It may be as somebody wants it.
      ...warningNotes(drift),
    ]),
    ...warningNotes(missedPods?.note),
  ]
  const kept = { certificates, webhooks, lookers }
  return { namespace, controller, dataPlanes, ...kept, readMetrics, troubles }
}

interface Machinery extends Pick<Parts, 'certificates' | 'dataPlanes'> {
  readonly companions: readonly Companion[]
  readonly writer: StatusWriter
}

const createController = (
  { api, clock, log, settings, namespace, namespaces, watchLog }: Surroundings,
  { certificates, dataPlanes, companions, writer }: Machinery,
): Controller => {
  const shared = { api, clock, log }
  const identity = settings.identity ?? hostname()
  const reporter = { controller: `${GROUP}/operator`, instance: identity }
  const events = createStatusEvents(createEventRecorder({ ...shared, reporter }))
  const account = { serviceAccount: settings.serviceAccount, operatorNamespace: namespace }
  const realmKeys = new RealmKeyKeeper({ ...shared, ...account, namespace })
  return new Controller({
    ...{ clock, log },
    source: withRealmKeys(
      createKubernetesSource({
        ...{ ...shared, namespaces, className: settings.class, watchLog, account },
      }),
      realmKeys,
    ),
    fleet: {
      dataPlanes,
      manager: settings.manager,
      credentials: credentialsOf(settings, certificates),
      version: readVersion(),
    },
    leadership: createLeaseLeadership({
      ...{ ...shared, namespace, name: settings.lease },
      identity,
    }),
    judging: judgingOf(settings),
    companions: [realmKeys, ...companions, companionOf(writer), companionOf(events)],
    onStatus: (status) => {
      writer.update(status)
      events.update(status)
    },
    onRecorded: (resource) => {
      writer.renew(resource)
    },
  })
}

const companionOf = (writer: { start: () => void; stop: () => void }): Companion => ({
  lead: () => {
    writer.start()
  },
  follow: () => {
    writer.stop()
  },
})

const judgingOf = (settings: OperatorSettings): ControllerOptions['judging'] => ({
  className: settings.class,
  hostOwnership: settings.hostOwnership,
  wildcardNamespaces: allOr(settings.wildcardNamespaces),
})

const allOr = (names: readonly string[]): readonly string[] | 'all' =>
  names.includes('all') ? 'all' : names

/** Without TLS, which is for pods on loopback: what the settings name, as for data planes without Kubernetes. */
const credentialsOf = (
  settings: OperatorSettings,
  certificates: CertificateKeeper,
): ControllerOptions['fleet']['credentials'] =>
  settings.dataPlaneTls
    ? (dataPlane) => certificates.credentialsFor(namespaceOf(dataPlane))
    : createCredentialReader(credentialFiles(settings))

/** An operator that can't introduce its webhook is of use all the same. */
const INTRODUCTION_MS = 20_000

/** One server for a person, on loopback, and one for probes. */
const openPages = async (
  { status, health }: OperatorSettings,
  { controller, dataPlanes, webhooks, troubles, readMetrics }: Parts,
): Promise<readonly StatusServer[]> => {
  const startedMs = SYSTEM_CLOCK.now()
  const sources: PageSources = {
    status: () => {
      const notes = [...controller.status.notes, ...dataPlanes.notes(), ...troubles()]
      return { ...controller.status, notes }
    },
    metrics: createOperatorMetrics(() => controller.status, [readMetrics]),
    unready: () => {
      if (!controller.status.isReady) return 'the resources have not been read yet'
      if (!dataPlanes.synced()) return 'the data planes are not known yet'
      const isWaiting = SYSTEM_CLOCK.now() - startedMs < INTRODUCTION_MS
      return isWaiting && !webhooks.every(({ isIntroduced }) => isIntroduced)
        ? 'the API server has not been told of the webhook yet'
        : undefined
    },
  }
  const desired = () => controller.desired
  const open: StatusServer[] = []
  if (status !== 'off') {
    const pages = { ...statusPages(sources), ...debugPages({ status: sources.status, desired }) }
    open.push(await startStatusServer(status, pages))
  }
  if (health !== 'off') open.push(await startStatusServer(health, healthPages(sources)))
  return open
}

const certificateNotes = ({ troubles }: CertificateKeeper): readonly SourceNote[] =>
  Array.from(troubles, ([namespace, trouble]) =>
    errorNote(`certificates of namespace ${namespace}: ${trouble}`),
  )

const errorNote = (message: string): SourceNote => ({ severity: 'error', message })

const warningNotes = (message: string | undefined): readonly SourceNote[] =>
  message === undefined ? [] : [{ severity: 'warning', message }]
