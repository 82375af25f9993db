// Runs the operator on Kubernetes: watches resources and pods, takes part in leader election, keeps data planes in line
// while it leads, and writes the status of every resource.

import { getHeapStatistics } from 'node:v8'
import { collectGarbage } from '../base/collect-garbage.ts'
import { measureBusy } from '../base/event-loop-busy.ts'
import { heapUse, watchHeapUse } from '../base/heap-use.ts'
import { limitsFrom } from '../compiler/limits.ts'
import type { Log } from '../telemetry/log.ts'
import { readVersion } from '../telemetry/version.ts'
import { ReviewKeys } from './admission/review-key.ts'
import { CertificateManager } from './certificates/certificate-manager.ts'
import { withRealmKeys } from './certificates/keyed-source.ts'
import { RealmKeyManager } from './certificates/realm-key-manager.ts'
import { type Clock, SYSTEM_CLOCK } from '../base/clock.ts'
import { collectWhenIdle } from './collect-when-idle.ts'
import type { OperatorSettings } from './config.ts'
import { type LeaderOnlyTask, Controller, type ControllerOptions } from './controller/controller.ts'
import { credentialFiles } from './credential-files.ts'
import {
  createOperatorCompiler,
  type OperatorCompiler,
  CachingCompiler,
} from './document-compiler.ts'
import { createCredentialReader } from './fleet/client/credentials.ts'
import type { KubernetesApi } from './kubernetes/client/api.ts'
import { createKubernetesApi } from './kubernetes/client/client.ts'
import { type ClusterOptions, loadCluster } from './kubernetes/config/kubeconfig.ts'
import { EventRecorder } from './kubernetes/events/recorder.ts'
import { createPodDataPlanes } from './source/pods.ts'
import { createReflector } from './kubernetes/watch/reflector.ts'
import { ServiceWatches } from './source/service-watches.ts'
import { KubernetesSource } from './source/source.ts'
import { namespaceOf, WarmDataPlanes } from './source/warm-data-planes.ts'
import { WatchLog } from './kubernetes/watch/watch-log.ts'
import { createKubernetesMetrics, type KubernetesMetrics } from './metrics-kubernetes.ts'
import type { RunningOperator } from './operate.ts'
import { openPages, type PagesParts } from './pages-kubernetes.ts'
import { createReplica, type Replica } from './replica.ts'
import { namespaceQuotaFrom } from './quota-settings.ts'
import type { SourceNote } from './resource/resource-source.ts'
import { GROUP } from './resource/resource.ts'
import type { OperatorAccount } from './resource/roles-for.ts'
import { StatusEvents } from './status/kubernetes-status-events.ts'
import { StatusWriter } from './status/kubernetes-status.ts'
import { operatorName, STATUS_FIELD_MANAGER } from './status/kubernetes-status-apply.ts'
import type { StatusServer } from './status/status-server.ts'
import { warnOfFullHeap } from './warn-of-full-heap.ts'
import {
  createMissedPods,
  createWebhookManagers,
  createWebhookRemovers,
  openAdmission,
  webhookNames,
} from './webhook.ts'

export interface KubernetesOptions {
  readonly settings: OperatorSettings
  readonly env: ClusterOptions['env']
  readonly log: Log
  /** For probes: open already, and not responding yet. */
  readonly health?: StatusServer | undefined
  /** Called when everything listens, before anything is read. */
  readonly onOpen: (facts: Readonly<Record<string, unknown>>) => void
}

/** @throws Error with a plain message where no API server is known or an address can't be listened on */
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
    cluster,
    clock,
    log,
    userAgent,
    onRequest: metrics.onRequest,
  })
  const namespace = settings.namespace ?? cluster.namespace
  const { serviceAccount = 'svc-operator' } = cluster
  const account = { serviceAccount, operatorNamespace: namespace }
  const compiler = createOperatorCompiler({ limits: limitsFrom(settings), timers: clock })
  const replica = createReplica({ api, clock, log, namespace, settings })
  const parts = assemble({
    ...options,
    api,
    clock,
    namespace,
    account,
    metrics,
    compiler,
    replica,
    watchLog: new WatchLog({ clock, log }),
    namespaces: allOr(settings.namespaces),
  })
  const servers = await openPages(options, parts, replica.leader)
  const { certificates, reviewKeys, controller, dataPlanes } = parts
  const admission = await openAdmission({
    settings,
    certificates,
    reviewKeys,
    compiler,
    api,
    clock,
    namespace,
    account,
    log,
    foresight: () => controller.foresight,
    dataPlanes: () => dataPlanes.known(),
  })
  onOpen({
    server: cluster.server,
    namespace: parts.namespace,
    status: servers.map(({ url }) => url),
  })
  const stopWatchingHeap = watchHeap(clock, log)
  parts.certificates.start()
  for (const webhook of parts.webhooks) webhook.introduce()
  parts.dataPlanes.open()
  await parts.controller.start()
  return {
    stop: async () => {
      stopWatchingHeap()
      await parts.controller.stop()
      await compiler.close()
      parts.dataPlanes.close()
      const stopping = parts.checks.map((task) => task.stop())
      // Requests under way need not be waited for: our leader term is over.
      await api.close()
      await parts.certificates.stop()
      await Promise.all(stopping)
      await Promise.all(parts.webhooks.map((webhook) => webhook.stop()))
      await admission?.close()
      await Promise.all(servers.map((server) => server.close()))
    },
  }
}

/** @returns a function that ends it */
const watchHeap = (clock: Clock, log: Log): (() => void) => {
  const limitBytes = getHeapStatistics().heap_size_limit
  const stopWatching = watchHeapUse(warnOfFullHeap({ clock, log, limitBytes }))
  const stopCollecting = collectWhenIdle({
    clock,
    heapUse,
    measureBusy,
    collect: () => {
      collectGarbage(Infinity)
    },
  })
  return () => {
    stopWatching()
    stopCollecting()
  }
}

interface Parts extends PagesParts {
  readonly namespace: string
  readonly certificates: CertificateManager
  readonly reviewKeys: ReviewKeys
  /** Leader-only tasks that must be stopped. */
  readonly checks: readonly { readonly stop: () => Promise<void> }[]
}

interface AssemblyDeps extends KubernetesOptions {
  readonly metrics: KubernetesMetrics
  readonly watchLog: WatchLog
  readonly compiler: OperatorCompiler
  readonly replica: Replica
  readonly api: KubernetesApi
  readonly clock: Clock
  /** The operator's own. */
  readonly namespace: string
  readonly account: OperatorAccount
  readonly namespaces: readonly string[] | 'all'
}

const assemble = (deps: AssemblyDeps): Parts => {
  const { account, api, clock, log, settings, namespace, namespaces } = deps
  const shared = { api, clock, log }
  const pool =
    settings.dataPlaneNamespaces.length === 0 ? [namespace] : settings.dataPlaneNamespaces
  const certificates: CertificateManager = new CertificateManager({
    ...shared,
    namespace,
    clientName: settings.manager,
    serviceAccount: account.serviceAccount,
    // A Pod of the shared pool can't start before its Secret exists.
    awaitedNamespaces: pool,
    dataPlaneNamespaces: () =>
      settings.dataPlaneTls ? new Set([...pool, ...dataPlanes.namespaces()]) : [],
    webhookNames: webhookNames(settings, namespace),
    onChange: () => {
      for (const webhook of webhooks) webhook.check()
    },
  })
  const reviewKeys = new ReviewKeys(() => certificates.webhookCertificate()?.key)
  const webhooks = createWebhookManagers({ ...deps, certificates, reviewKeys })
  const dataPlanes: WarmDataPlanes = new WarmDataPlanes({
    pods: createPodDataPlanes({
      ...shared,
      watchLog: deps.watchLog,
      namespaces: pool,
      sidecarNamespaces: namespaces,
      scheme: settings.dataPlaneTls ? 'https' : 'http',
    }),
    onNamespace: (each) => {
      if (settings.dataPlaneTls) void certificates.ensureNamespace(each)
    },
  })
  const missedPods = createMissedPods({ ...deps, certificates, reviewKeys })
  const removers = createWebhookRemovers({ ...deps, certificates, reviewKeys })
  const checks = [...(missedPods === undefined ? [] : [missedPods]), ...removers]
  const leaderOnlyTasks = [certificates, ...webhooks, ...checks]
  const writer = createWriter(shared, operatorName(settings, namespace))
  const controller = createController(deps, { certificates, dataPlanes, leaderOnlyTasks, writer })
  const readMetrics = deps.metrics.observe({
    isLeading: () => controller.status.isLeading,
    desired: () => controller.desired,
    status: () => writer.facts,
    certificateEndsMs: () => certificates.endsMs,
    failures: () => ({
      pods: dataPlanes.notes().filter(({ severity }) => severity === 'error').length,
      certificates: certificates.failures.size,
      webhook: webhooks.some(({ failure }) => failure !== undefined) ? 1 : 0,
    }),
    podsWithoutGateway: () => missedPods?.count,
    fleet: () => controller.fleet?.counters(),
  })
  const failures = () => [
    ...certificateNotes(certificates),
    ...webhooks.flatMap(({ failure, drift }) => [
      ...(failure === undefined ? [] : [errorNote(`the webhook: ${failure}`)]),
      // A warning, as the change may be intended.
      ...warningNotes(drift),
    ]),
    ...warningNotes(missedPods?.note),
  ]
  const kept = { certificates, reviewKeys, webhooks, checks }
  return { namespace, controller, dataPlanes, ...kept, readMetrics, failures }
}

const createWriter = (
  shared: Pick<AssemblyDeps, 'api' | 'clock' | 'log'>,
  operator: string,
): StatusWriter => {
  const writer = new StatusWriter({ ...shared, fieldManager: STATUS_FIELD_MANAGER, operator })
  shared.api.onReturn(() => {
    writer.retry()
  })
  return writer
}

interface ControllerDeps extends Pick<Parts, 'certificates' | 'dataPlanes'> {
  readonly leaderOnlyTasks: readonly LeaderOnlyTask[]
  readonly writer: StatusWriter
}

const createController = (
  {
    account,
    api,
    clock,
    log,
    settings,
    namespace,
    namespaces,
    watchLog,
    compiler,
    replica,
  }: AssemblyDeps,
  { certificates, dataPlanes, leaderOnlyTasks, writer }: ControllerDeps,
): Controller => {
  const shared = { api, clock, log }
  const reporter = { controller: `${GROUP}/operator`, instance: replica.identity }
  const events = new StatusEvents(new EventRecorder({ ...shared, reporter }), clock)
  const realmKeys = new RealmKeyManager({ ...shared, ...account, namespace })
  return new Controller({
    clock,
    log,
    source: withRealmKeys(
      new KubernetesSource({
        ...shared,
        namespaces,
        className: settings.class,
        watchLog,
        account,
        operator: operatorName(settings, namespace),
      }),
      realmKeys,
    ),
    fleet: {
      dataPlanes,
      manager: settings.manager,
      credentials: credentialsOf(settings, certificates),
      version: readVersion(),
      withholdMs: settings.withholdSeconds * 1000,
      ...(settings.serviceEndpoints && {
        endpoints: {
          source: new ServiceWatches({ ...shared, watchLog, createReflector }),
          clusterDomain: settings.clusterDomain,
          namespaces,
        },
      }),
    },
    leadership: replica.leadership,
    validating: validatingOf(settings),
    deletedRealmMs: settings.deletedRealmSeconds * 1000,
    compiler: (onResult) => new CachingCompiler({ compiler, onResult, log }),
    leaderOnlyTasks: [realmKeys, ...leaderOnlyTasks, writer, events],
    onStatus: (status) => {
      writer.update(status)
      events.update(status)
    },
    onRecorded: (resource) => {
      writer.renew(resource)
    },
  })
}

const validatingOf = (settings: OperatorSettings): ControllerOptions['validating'] => ({
  className: settings.class,
  hostOwnership: settings.hostOwnership,
  wildcardNamespaces: allOr(settings.wildcardNamespaces),
  destinations: settings.destinations,
  clusterDomain: settings.clusterDomain,
  namespaceQuota: namespaceQuotaFrom(settings),
})

const allOr = (names: readonly string[]): readonly string[] | 'all' =>
  names.includes('all') ? 'all' : names

/** Without TLS, which is for pods on loopback: the credentials that the settings name, as without Kubernetes. */
const credentialsOf = (
  settings: OperatorSettings,
  certificates: CertificateManager,
): ControllerOptions['fleet']['credentials'] =>
  settings.dataPlaneTls
    ? (dataPlane) => certificates.credentialsFor(namespaceOf(dataPlane))
    : createCredentialReader(credentialFiles(settings))

const certificateNotes = ({ failures }: CertificateManager): readonly SourceNote[] =>
  Array.from(failures, ([namespace, failure]) =>
    errorNote(`certificates of namespace ${namespace}: ${failure}`),
  )

const errorNote = (message: string): SourceNote => ({ severity: 'error', message })

const warningNotes = (message: string | undefined): readonly SourceNote[] =>
  message === undefined ? [] : [{ severity: 'warning', message }]
